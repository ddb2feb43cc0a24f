import { once } from "node:events";
import net from "node:net";
import { expect, test } from "vitest";
import { listenerOn, parseLsof, parseTcpTable, socketsOf } from "../../../crash-lab/peers/sockets.js";

async function connectedPair(host: string) {
  const server = net.createServer();
  server.listen(0, host);
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[net.Socket]>;
  const client = net.connect((server.address() as net.AddressInfo).port, host);
  await once(client, "connect");
  const [peer] = await accepted;
  return {
    client,
    serverPort: (server.address() as net.AddressInfo).port,
    async close() {
      client.destroy();
      peer.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

test.each(["127.0.0.1", "::1"])("a connection to %s is found with its owner and its peer", async (host) => {
  const pair = await connectedPair(host);
  try {
    const { localPort } = pair.client;
    expect(await listenerOn(pair.serverPort, [process.pid])).toBe(process.pid);
    const socket = (await socketsOf([process.pid])).find((each) => each.localPort === localPort);
    expect(socket?.remotePort).toBe(pair.serverPort);
    expect(socket?.remoteAddress).toMatch(host === "::1" ? /^(::1|0:0:0:0:0:0:0:1)$/ : /^127\.0\.0\.1$/);
  } finally {
    await pair.close();
  }
});

test("a process that doesn't listen on the port, or has ended, is not named", async () => {
  const pair = await connectedPair("127.0.0.1");
  try {
    expect(await listenerOn(pair.client.localPort!, [process.pid])).toBeUndefined();
    expect(await listenerOn(pair.serverPort, [1, 999_999_999])).toBeUndefined();
  } finally {
    await pair.close();
  }
});

test("the kernel's table is read for both address families", () => {
  const header =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
  const four =
    "   0: 0100007F:1F90 0200000A:01BB 01 00000000:00000000 00:00000000 00000000  1000 0 4242 1 0 20 4 30 10 -1\n";
  const six =
    "   1: 00000000000000000000000001000000:1F91 0000000000000000FFFF00000100007F:1538 06 00000000:00000000 00:00000000 00000000 0 0 0 3\n";
  expect(parseTcpTable(header + four + six)).toEqual([
    { localPort: 8080, remoteAddress: "10.0.0.2", remotePort: 443, state: "01", inode: "4242" },
    { localPort: 8081, remoteAddress: "127.0.0.1", remotePort: 5432, state: "06", inode: "0" },
  ]);
});

test("lsof's field output is read", () => {
  expect(
    parseLsof("p41\nf12\nn127.0.0.1:50000->127.0.0.1:7233\nf13\nn[::1]:50001->[::1]:5432\np42\nn*:80\n"),
  ).toEqual([
    { pid: 41, localPort: 50_000, remoteAddress: "127.0.0.1", remotePort: 7233 },
    { pid: 41, localPort: 50_001, remoteAddress: "::1", remotePort: 5432 },
    { pid: 42, localPort: 80, remoteAddress: "", remotePort: 0 },
  ]);
});
