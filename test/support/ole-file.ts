import { burn, type Entry } from "@kenjiuno/msgreader/lib/Burner.js";
import { TypeEnum } from "@kenjiuno/msgreader/lib/Reader.js";

/** Streams by their names, and storages of them. */
export interface OleTree {
	readonly [name: string]: Uint8Array | OleTree;
}

/** An OLE file ([MS-CFB]) of these streams. */
export function oleFile(tree: OleTree): Uint8Array {
	const entries: Entry[] = [];
	const add = (name: string, type: TypeEnum, content: Uint8Array | OleTree): number => {
		const index = entries.length;
		if (content instanceof Uint8Array) {
			entries.push({ name, type, length: content.length, binaryProvider: () => content });
			return index;
		}
		const children: number[] = [];
		entries.push({ name, type, length: 0, children });
		for (const [inner, value] of Object.entries(content))
			children.push(add(inner, value instanceof Uint8Array ? TypeEnum.DOCUMENT : TypeEnum.DIRECTORY, value));
		return index;
	};
	add("Root Entry", TypeEnum.ROOT, tree);
	return burn(entries);
}
