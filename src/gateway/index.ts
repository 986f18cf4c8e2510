/** Puts the parts together: the only room that knows them all. Has no rules of its own. */
export type { AudioEngines } from "./audio-routes.ts";
export { builtConsole } from "./console-build.ts";
export { ConsolePages } from "./console-pages.ts";
export { Gateway } from "./gateway.ts";
export type { GatewayInputs } from "./gateway-inputs.ts";
export { Housekeeper, type HousekeeperParts } from "./housekeeper.ts";
