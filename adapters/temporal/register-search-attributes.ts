/**
 * Workflows set search attributes when they start, and the server refuses a start with one that it doesn't know. So
 * they are registered before the first start; doing it again changes nothing.
 */
import type { Connection } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { searchAttributes } from "../../workflows/search-attributes.js";

const { IndexedValueType } = temporal.api.enums.v1;
type ValueType = temporal.api.enums.v1.IndexedValueType;

const valueTypes: Readonly<Record<(typeof searchAttributes)[number]["type"], ValueType>> = {
  KEYWORD: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  DATETIME: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
};

/** How often to look again after a rival has registered in between; each round ends one rival's work. */
const roundsMax = 5;
const alreadyExists = 6;

/**
 * @throws Error when a name is there with another type, or the server refuses (a hosted namespace wants its own tool
 *   for this; then the message of the server says so)
 */
export async function registerSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  for (let round = 1; ; round += 1) {
    const missing = await missingAttributes(connection, namespace);
    if (Object.keys(missing).length === 0) return;
    try {
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: missing });
    } catch (error) {
      const rival = (error as { code?: number }).code === alreadyExists;
      if (!rival || round === roundsMax) throw error;
    }
  }
}

async function missingAttributes(
  connection: Connection,
  namespace: string,
): Promise<Record<string, ValueType>> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing: Record<string, ValueType> = {};
  for (const { name, type } of searchAttributes) {
    const wanted = valueTypes[type];
    const present = customAttributes[name];
    if (present === undefined) missing[name] = wanted;
    else if (present !== wanted) {
      throw new Error(
        `The search attribute ${name} of namespace ${namespace} has the type ${IndexedValueType[present]}; ` +
          `allowed: ${IndexedValueType[wanted]}.`,
      );
    }
  }
  return missing;
}
