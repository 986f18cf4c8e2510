/** The parts of an Office document (ECMA-376 part 2), in a zip file or in one XML file. Names are case-insensitive. */
export interface PackageParts {
	names(): string[];
	has(name: string): boolean;
	/**
	 * Returns a part's bytes; null if there is none of that name.
	 * @throws {DocumentFault}
	 */
	read(name: string): Buffer | null;
	/**
	 * Returns a part as text; null if there is none of that name.
	 * @throws {DocumentFault}
	 */
	text(name: string): string | null;
}
