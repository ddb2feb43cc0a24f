/** A database of its own, a tap in front of it, and a client that goes past the tap to see what is really there. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import {
  openPostgresTap,
  type PostgresTapOptions,
} from "../../../../crash-lab/taps/postgres/postgres-tap.js";
import type { Tap } from "../../../../crash-lab/taps/tap.js";
import { Recorder } from "../recorder.js";

export interface PostgresRig {
  /** Connected past the tap. */
  readonly direct: pg.Client;
  readonly directUrl: string;
  openTap(options?: Partial<PostgresTapOptions>): Promise<OpenTap>;
  close(): Promise<void>;
}

export interface OpenTap {
  readonly tap: Tap;
  readonly recorder: Recorder;
  readonly url: string;
  /** A client through the tap, ended with the rig. */
  client(): Promise<pg.Client>;
}

export async function openPostgresRig(serverUrl: string): Promise<PostgresRig> {
  const name = `taps_${randomBytes(6).toString("hex")}`;
  const admin = new pg.Client(serverUrl);
  await admin.connect();
  await admin.query(`create database ${name}`);
  const directUrl = withPath(serverUrl, name);
  const direct = new pg.Client(directUrl);
  await direct.connect();
  await direct.query("create table item(id text primary key, note text, state text default 'new')");
  const taps: Tap[] = [];
  const clients: pg.Client[] = [];
  return {
    direct,
    directUrl,
    openTap: async (options = {}) => {
      const recorder = new Recorder();
      const { hostname, port } = new URL(serverUrl);
      const upstream = { host: hostname, port: Number(port) };
      const tap = await openPostgresTap({ process: "worker", controller: recorder, upstream, ...options });
      taps.push(tap);
      const url = withPort(directUrl, tap.port);
      return {
        tap,
        recorder,
        url,
        client: async () => {
          const client = new pg.Client(url);
          // Some tests break the connection on purpose.
          client.on("error", () => {});
          clients.push(client);
          await client.connect();
          return client;
        },
      };
    },
    close: async () => {
      await Promise.allSettled(clients.map((client) => client.end()));
      for (const tap of taps) await tap.close();
      await direct.end();
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

function withPath(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

function withPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.hostname = "127.0.0.1";
  changed.port = String(port);
  return changed.href;
}
