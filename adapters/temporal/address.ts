/** Where the Temporal server is, for a worker's native connection and a client's alike. */
export interface TemporalAddress {
  /** `host:port` of the frontend. */
  readonly address: string;
  readonly namespace: string;
  /** Key of a hosted namespace; with it the connection is encrypted. Without it the connection is in clear text. */
  readonly apiKey?: string;
}

/** What both kinds of connection are opened with. */
export function connectionOptions({ address, namespace, apiKey }: TemporalAddress) {
  return {
    address,
    ...(apiKey === undefined ? {} : { apiKey, tls: true, metadata: { "temporal-namespace": namespace } }),
  };
}
