/** What stops a start with exit 78: the file with the line, the path in it and what is expected. */
export class ConfigError extends Error {
	override readonly name: string = "ConfigError";
}

/** A setting that is found wrong behind the loading, where its line is not known: `LoadedConfig.places` has it. */
export class SettingError extends ConfigError {
	override readonly name = "SettingError";
	/** Path of the setting, like `rpc.networks.base`. */
	readonly path: string;
	readonly problem: string;

	constructor(path: string, problem: string) {
		super(`${path}: ${problem}`);
		this.path = path;
		this.problem = problem;
	}
}
