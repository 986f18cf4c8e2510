export type EngineState = "stopped" | "starting" | "ready" | "backing-off";
