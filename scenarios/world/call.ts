/** One call to the world's control listener. */

/** The world answered, and the answer is no. The message carries the world's own explanation. */
export class WorldRefused extends Error {
  override readonly name = "WorldRefused";
  constructor(
    readonly status: number,
    call: string,
    detail: string,
  ) {
    super(`${call}: the world answered ${status}: ${detail}`);
  }
}

export interface WorldCall {
  readonly baseUrl: string;
  readonly token: string;
  readonly method: string;
  readonly path: string;
  readonly body?: { readonly mediaType: string; readonly bytes: Uint8Array | string };
  readonly signal?: AbortSignal;
}

/** @returns the JSON answer, or `undefined` for one without content. @throws WorldRefused */
export async function callWorld({ baseUrl, token, method, path, body, signal }: WorldCall): Promise<unknown> {
  const response = await fetch(new URL(path, baseUrl), {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": body.mediaType }),
    },
    ...(body === undefined ? {} : { body: body.bytes }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  if (!response.ok) throw new WorldRefused(response.status, `${method} ${path}`, detailOf(text));
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}

function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    return typeof detail === "string" ? detail : text;
  } catch {
    return text;
  }
}
