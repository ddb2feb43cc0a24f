/** The process of the outside world. Settings come from the environment; see `settings.ts`. */
import { pino } from "pino";
import { readSettings, SettingsError, type Settings } from "./settings.js";
import { startWorld } from "./world.js";

/** Same as the command line: the program was called wrongly, nothing was started. */
const badSettingsExitCode = 2;

function settingsOrExit(): Settings {
  try {
    return readSettings(process.env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(badSettingsExitCode);
  }
}

const settings = settingsOrExit();
const logger = pino({ level: settings.WORLD_LOG_LEVEL, base: { service: "world" } });

try {
  const world = await startWorld(settings, logger);
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    logger.info({ event: "stopping", signal });
    world.close().then(
      () => logger.info({ event: "stopped" }),
      (error: unknown) => {
        logger.error({ err: error }, "could not stop cleanly");
        process.exitCode = 1;
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.stdout.write(`${JSON.stringify({ event: "ready", ports: world.ports })}\n`);
} catch (error) {
  logger.fatal({ err: error }, "the world could not be started");
  process.exitCode = 1;
}
