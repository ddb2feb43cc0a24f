import { describe, expect, it } from "vitest";
import {
  newRunToken,
  RunTokenScanner,
  runTokensIn,
  withoutRunTokens,
} from "../../../crash-lab/taps/tokens.js";

const [a, b] = ["kp0123456789ab", "kpzzzzzzzzzzzz"];

describe("run tokens", () => {
  it("are found where they are delimited", () => {
    expect(runTokensIn(`invoice:${a}:post/${b}_1`)).toEqual([a, b]);
    expect(runTokensIn(newRunToken())).toHaveLength(1);
  });

  it("aren't found inside longer words", () => {
    expect(runTokensIn(`x${a} ${a}x ${a.toUpperCase()} kp0123`)).toEqual([]);
  });

  it("are replaced, so that runs can be compared", () => {
    expect(withoutRunTokens(`post:${a}`)).toBe(withoutRunTokens(`post:${b}`));
  });

  it("are found in pieces cut at any two places, and only delimited ones", () => {
    const content = Buffer.from(`${a}-1;x${b};y-${b}`);
    for (let first = 0; first <= content.length; first += 1) {
      for (let second = first; second <= content.length; second += 1) {
        const scanner = new RunTokenScanner();
        scanner.push(content.subarray(0, first));
        scanner.push(content.subarray(first, second));
        scanner.push(content.subarray(second));
        scanner.end();
        expect([...scanner.tokens]).toEqual([a, b]);
      }
    }
    const undelimited = Buffer.from(`x${a}; y${b}`);
    for (let cut = 0; cut <= undelimited.length; cut += 1) {
      const scanner = new RunTokenScanner();
      scanner.push(undelimited.subarray(0, cut));
      scanner.push(undelimited.subarray(cut));
      scanner.end();
      expect([...scanner.tokens], `cut at ${cut}`).toEqual([]);
    }
  });
});
