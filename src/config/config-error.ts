/** An error that ends a start with exit 78: the file with the line, the path in it and the expectation. */
export class ConfigError extends Error {
	override readonly name: string = "ConfigError";
}

/** A wrong setting that is found after loading, when its line is not known: `LoadedConfig.places` has it. */
export class SettingError extends ConfigError {
	override readonly name = "SettingError";
	/** The path of the setting, like `rpc.networks.base`. */
	readonly path: string;
	readonly problem: string;

	constructor(path: string, problem: string) {
		super(`${path}: ${problem}`);
		this.path = path;
		this.problem = problem;
	}
}
