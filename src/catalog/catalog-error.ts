/**
 * A fault in what the catalog is made of: a data file, or the sections of the configuration that speak of
 * models. The start stops with it; a reload keeps the old catalog and tells it.
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
