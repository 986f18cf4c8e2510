import { posix } from "node:path";
import { DocumentFault } from "../document-fault.ts";
import { elements, type MarkupElement, parseXml } from "../markup/markup-tree.ts";
import type { PackageParts } from "./package-parts.ts";

export interface Relation {
	readonly id: string;
	/** The last word of its type: `slide`, `hyperlink`. */
	readonly type: string;
	/** The name of a part, or an address if it is external. */
	readonly target: string;
}

/** Returns a part's relations (ECMA-376 part 2, 9.3) by id; empty if it has none. */
export function relationsOf(zip: PackageParts, part: string): Map<string, Relation> {
	const folder = posix.dirname(part);
	const relations = new Map<string, Relation>();
	const xml = zip.text(posix.join(folder, "_rels", `${posix.basename(part)}.rels`));
	if (xml === null) return relations;
	for (const top of elements(parseXml(xml)))
		for (const { attributes } of elements(top)) {
			const { Id: id, Type: type = "", Target: target, TargetMode: mode } = attributes;
			if (id === undefined || target === undefined) continue;
			const place = mode === "External" ? target : storedName(zip, partName(folder, target.replaceAll("\\", "/")));
			relations.set(id, { id, type: type.slice(type.lastIndexOf("/") + 1), target: place });
		}
	return relations;
}

function partName(folder: string, target: string): string {
	return target.startsWith("/") ? target.slice(1) : posix.normalize(posix.join(folder, target));
}

/**
 * Returns the stored name of a target: targets are URI references, part names are not always escaped in the same way (ECMA-376
 * part 2, 6.2.2).
 */
function storedName(zip: PackageParts, target: string): string {
	if (zip.has(target)) return target;
	try {
		return [decodeURIComponent(target), encodeURI(target)].find((name) => zip.has(name)) ?? target;
	} catch {
		return target;
	}
}

/** Returns the root element of a referenced part. Throws a DocumentFault, because an answer without it would look complete. */
export function neededPart(zip: PackageParts, name: string): MarkupElement {
	const root = partRoot(zip, name);
	if (root === null) throw missingPart(name);
	return root;
}

/** Returns the fault for a missing part. */
export const missingPart = (name: string) =>
	new DocumentFault("corrupt", `The file is damaged: it lacks its part ${name.slice(0, 200)}`);

export function targetsOf(relations: ReadonlyMap<string, Relation>, type: string): string[] {
	return [...relations.values()].filter((relation) => relation.type === type).map((relation) => relation.target);
}

/** Returns the root element of a part; null if the package lacks it. */
export function partRoot(zip: PackageParts, name: string): MarkupElement | null {
	const xml = zip.text(name);
	if (xml === null) return null;
	return elements(parseXml(xml)).find((element) => !element.name.startsWith("?")) ?? null;
}

/**
 * Returns the main part of the package.
 * @throws {DocumentFault}
 */
export function mainPart(zip: PackageParts): string {
	const [target] = targetsOf(relationsOf(zip, ""), "officeDocument");
	if (target === undefined || !zip.has(target))
		throw new DocumentFault("corrupt", "The file is damaged: it lacks the part that its text is in");
	return target;
}
