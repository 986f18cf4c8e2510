/** Resolves a part of a command: citty allows the part itself, a function that returns it, or a promise of it. */
export async function resolvePart<T>(part: T | Promise<T> | (() => T | Promise<T>) | undefined): Promise<T | undefined> {
	return typeof part === "function" ? await (part as () => T | Promise<T>)() : await part;
}
