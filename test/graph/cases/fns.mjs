/**
 * The functions that the cases beside this file name. Each takes the case's arguments and gives the function that
 * runs: `(state, context) => result` for a node, `(state) => destinations` for a router, `(current, update) => value`
 * for a reducer. Results are plain data; tokens such as `{ $command }` and `{ $send }` are turned into what the
 * engine at hand uses. A context has interrupt, write, sleep, attempt, context, count, drain, store and runGraph.
 */

const add = (key, ...entries) => ({ [key]: entries });
const text = (value) => JSON.stringify(value ?? null);

/** An error with a name, and a status where the case gives one. */
function failure(message, { name = "Error", status } = {}) {
  const error = new Error(message);
  error.name = name;
  return status === undefined ? error : Object.assign(error, { status });
}

/** Lets everything that is ready to run do so, many times over, so that what comes next comes last in its step. */
async function settle(context) {
  await context.sleep(5);
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const writing = {
  nothing: () => () => null,
  put:
    ({ update }) =>
    () =>
      update,
  tag:
    ({ key = "log", label, ms }) =>
    async (_state, context) => {
      if (ms) await context.sleep(ms);
      return add(key, label);
    },
  saw:
    ({ key = "log", label, of }) =>
    (state) =>
      add(key, `${label}:${text(state?.[of])}`),
  len:
    ({ key, of }) =>
    (state) => ({ [key]: state[of].length }),
  inc:
    ({ key, by = 1, from = key, also }) =>
    (state) => ({ [key]: (state[from] ?? 0) + by, ...also }),
  itemTag:
    ({ key = "log" }) =>
    ({ item }) =>
      add(key, item),
  // With `slow` the larger items finish first, so that finish order and packet order differ.
  itemTimes:
    ({ key = "out", by, slow }) =>
    async ({ item }, context) => {
      if (slow) await context.sleep(slow - item * 5);
      return add(key, item * by);
    },
  emit:
    ({ key = "log", label, chunks }) =>
    (_state, context) => {
      for (const chunk of chunks) context.write(chunk);
      return add(key, label);
    },
};

const commanding = {
  cmd:
    ({ update, goto, graph }) =>
    () => ({
      $command: Object.fromEntries(
        Object.entries({ update, goto, graph }).filter(([, value]) => value !== undefined),
      ),
    }),
  cmds:
    ({ list }) =>
    () =>
      list,
};

const asking = {
  ask:
    ({ key = "log", label, q }) =>
    (_state, context) =>
      add(key, `${label}=${text(context.interrupt(q))}`),
  askMany:
    ({ key = "log", label, qs }) =>
    (_state, context) =>
      add(key, `${label}=${text(qs.map((question) => context.interrupt(question)))}`),
  askItem:
    ({ key = "log" }) =>
    ({ item }, context) =>
      add(key, `${item}=${text(context.interrupt(`q-${item}`))}`),
  askGoto:
    ({ q, yes, no }) =>
    (_state, context) => ({
      $command: { goto: context.interrupt(q) ? yes : no, update: add("log", "decided") },
    }),
};

const failing = {
  fail:
    ({ message = "boom", ms }) =>
    async (_state, context) => {
      if (ms) await context.sleep(ms);
      throw failure(message);
    },
  failTimes:
    ({ key = "log", label, times, name, status, ms }) =>
    async (_state, context) => {
      if (ms) await context.sleep(ms);
      if (context.count() <= times) throw failure(`boom ${context.count()}`, { name, status });
      return add(key, label);
    },
  // Fails when its siblings have had their time to finish.
  failLast:
    ({ key = "log", label, times }) =>
    async (_state, context) => {
      const call = context.count();
      if (call > times) return add(key, label);
      await settle(context);
      throw failure(`boom ${label} ${call}`);
    },
  attempt:
    ({ key = "log", failUntil }) =>
    (_state, context) => {
      if (context.attempt < failUntil) throw failure("again");
      return add(key, `attempt:${context.attempt}`);
    },
  hang:
    ({ key = "log", label = "done", ms, times = Infinity }) =>
    async (_state, context) => {
      if (context.count() <= times) await context.sleep(ms);
      return add(key, label);
    },
  handled:
    ({ key = "log", goto }) =>
    (_state, { error }) => {
      const update = add(key, `handled ${error.node}:${error.message}`);
      return goto ? { $command: { update, goto } } : update;
    },
};

/** One function that can do all of the above, for graphs that are drawn at random. */
const acting = {
  act:
    ({
      label,
      sees = [],
      update = {},
      asks = [],
      failUntil = 0,
      fails = 0,
      failsAtOnce = false,
      goto,
      graph,
    }) =>
    async (state, context) => {
      const name = `${label}${state.item ?? ""}`;
      const answers = asks.map((question) => context.interrupt(`${question}${state.item ?? ""}`));
      if (context.attempt < failUntil) throw failure(`again ${name}`);
      if (context.count() <= fails) {
        if (!failsAtOnce) await settle(context);
        throw failure(`boom ${name}`);
      }
      const seen = sees.map((key) => `${key}=${text(state[key])}`);
      const entry = [name, ...answers.map(text), ...seen].join(" ");
      const result = { ...update, ...add("log", entry) };
      return goto || graph ? commanding.cmd({ update: result, goto, graph })() : result;
    },
};

const reaching = {
  ctxTag:
    ({ key = "log" }) =>
    (_state, { context }) =>
      add(key, `user:${context?.user ?? "none"}`),
  remember:
    ({ key = "log", ns, k, from }) =>
    async (state, { store }) => {
      const before = await store.get(ns, k);
      await store.put(ns, k, { v: state[from] });
      return add(key, `old:${before?.v ?? "none"}`);
    },
  drain:
    ({ key = "log", label }) =>
    (_state, context) => {
      context.drain();
      return add(key, label);
    },
  callGraph:
    ({ key = "log", input, take }) =>
    async (_state, context) =>
      add(key, `sub:${text((await context.runGraph(input))[take])}`),
};

export const nodeFns = { ...writing, ...commanding, ...asking, ...failing, ...acting, ...reaching };

export const routeFns = {
  to:
    ({ to }) =>
    () =>
      to,
  gt:
    ({ key, than, then, else: otherwise }) =>
    (state) =>
      state[key] > than ? then : otherwise,
  byLog:
    ({ has, then, else: otherwise }) =>
    (state) =>
      state.log.includes(has) ? then : otherwise,
  lenLt:
    ({ key, n, then, else: otherwise }) =>
    (state) =>
      state[key].length < n ? then : otherwise,
  // Chooses by the length of a list, so that what a node wrote before decides where the run goes.
  byLength:
    ({ key, choices }) =>
    (state) =>
      choices[state[key].length % choices.length],
  whileShort:
    ({ key, until, again }) =>
    (state) =>
      state[key].length < until ? again : "END",
  fan:
    ({ over, node, field = "item", extra = [] }) =>
    (state) => [...state[over].map((item) => ({ $send: { node, arg: { [field]: item } } })), ...extra],
  ask:
    ({ q, then, else: otherwise }) =>
    (_state, context) =>
      context.interrupt(q) ? then : otherwise,
  boomOnce: ({ to }) => {
    let calls = 0;
    return () => {
      calls += 1;
      if (calls === 1) throw failure("router boom");
      return to;
    };
  },
  slow:
    ({ to, ms }) =>
    async () => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return to;
    },
  boom: () => () => {
    throw failure("router boom");
  },
};

export const reducers = {
  append: (current, update) => [...current, ...[update].flat()],
  sum: (current, update) => current + update,
  max: (current, update) => Math.max(current, update),
  min: (current, update) => Math.min(current, update),
  join: (current, update) => `(${current}+${update})`,
};
