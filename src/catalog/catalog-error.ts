/**
 * An error in the catalog's sources: a data file, or the model sections of the configuration. It stops a start; a reload keeps
 * the old catalog and reports it.
 */
export class CatalogError extends Error {
	override readonly name = "CatalogError";
	/** The data file, or `config`. */
	readonly source: string;
	/** Path inside the source, for example `models[3].price.edit`. */
	readonly path: string;
	readonly problem: string;

	constructor(source: string, path: string, problem: string, cause?: unknown) {
		super(`${source}: ${path === "" ? "" : `${path}: `}${problem}`, cause === undefined ? undefined : { cause });
		this.source = source;
		this.path = path;
		this.problem = problem;
	}
}
