/** The parts of an Office document (ECMA-376 part 2), in a zip file or in one XML file. Names compare without case. */
export interface PackageParts {
	names(): string[];
	has(name: string): boolean;
	/** A part's bytes; null where there is none of that name. Throws DocumentFault. */
	read(name: string): Buffer | null;
	/** A part as text; null where there is none of that name. Throws DocumentFault. */
	text(name: string): string | null;
}
