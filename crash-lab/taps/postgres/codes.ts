/**
 * The wire protocol's message codes and lengths, version 3, by the names of the PostgreSQL manual
 * ("Message Formats").
 */
const code = (letter: string): number => letter.charCodeAt(0);

/** A typed message: one byte code, then a length that counts itself but not the code. */
export const codeBytes = 1;
export const lengthBytes = 4;
export const headerBytes = codeBytes + lengthBytes;
/**
 * No message of the protocol is longer; a bigger figure means that the stream isn't this protocol or that the tap
 * lost its place, and going on would turn garbage into events.
 */
export const messageBytesMax = 0x4000_0000;

/** Requests that open a connection have no code; the number after their length says what they are. */
export const opening = {
  cancelRequest: 80_877_102,
  sslRequest: 80_877_103,
  gssEncryptionRequest: 80_877_104,
} as const;
/** Both figures are the major version in the upper 16 bits. */
export const protocolMajor = 3;
export const openingLengthMin = 8;
/** The server itself refuses a longer one. */
export const openingLengthMax = 10_000;
/** One byte, without header: "no encryption here, go on in clear". */
export const encryptionRefused = "N";

export const fromClient = {
  bind: code("B"),
  close: code("C"),
  copyData: code("d"),
  copyDone: code("c"),
  copyFail: code("f"),
  describe: code("D"),
  execute: code("E"),
  flush: code("H"),
  functionCall: code("F"),
  parse: code("P"),
  /** Password, SASL and GSS answers share it. */
  authentication: code("p"),
  query: code("Q"),
  sync: code("S"),
  terminate: code("X"),
} as const;

export const fromServer = {
  authentication: code("R"),
  backendKeyData: code("K"),
  bindComplete: code("2"),
  closeComplete: code("3"),
  commandComplete: code("C"),
  copyBothResponse: code("W"),
  copyData: code("d"),
  copyDone: code("c"),
  copyInResponse: code("G"),
  copyOutResponse: code("H"),
  dataRow: code("D"),
  emptyQueryResponse: code("I"),
  errorResponse: code("E"),
  functionCallResponse: code("V"),
  negotiateProtocolVersion: code("v"),
  noData: code("n"),
  noticeResponse: code("N"),
  notificationResponse: code("A"),
  parameterDescription: code("t"),
  parameterStatus: code("S"),
  parseComplete: code("1"),
  portalSuspended: code("s"),
  readyForQuery: code("Z"),
  rowDescription: code("T"),
} as const;

/** What may come at any time, whatever was asked; it never belongs to an answer. */
export const unasked: ReadonlySet<number> = new Set([
  fromServer.noticeResponse,
  fromServer.notificationResponse,
  fromServer.parameterStatus,
]);

/** Messages that may be large and whose content the tap doesn't need whole: passed on in pieces. */
export const bulkFromServer: ReadonlySet<number> = new Set([fromServer.dataRow, fromServer.copyData]);
export const bulkFromClient: ReadonlySet<number> = new Set([fromClient.copyData]);

/** ReadyForQuery's one byte. */
export const transactionStatus = {
  idle: code("I"),
  inTransaction: code("T"),
  failed: code("E"),
} as const;

/** Describe and Close say what their name belongs to. */
export const target = { statement: code("S"), portal: code("P") } as const;
/** Fields of ErrorResponse that the tap reads. */
export const errorField = { severity: code("V"), sqlState: code("C") } as const;
