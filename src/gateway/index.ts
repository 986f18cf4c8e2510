/** Puts the parts together: the only room that knows them all. Has no rules of its own. */

export { RetentionJob, type RetentionJobDeps } from "../maintenance/retention-job.ts";
export type { AudioEngines } from "./audio.ts";
export { builtConsole } from "./console-build.ts";
export { ConsolePages } from "./console-pages.ts";
export { Gateway } from "./gateway.ts";
export type { GatewayDeps } from "./gateway-deps.ts";
