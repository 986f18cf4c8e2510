/** Assembles the modules, and is the only one that knows them all. It has no rules of its own. */

export { RetentionJob, type RetentionJobDeps } from "../maintenance/retention-job.ts";
export type { AudioEngines } from "./audio.ts";
export { builtConsole } from "./console-build.ts";
export { ConsolePages } from "./console-pages.ts";
export { Gateway } from "./gateway.ts";
export type { GatewayDeps } from "./gateway-deps.ts";
