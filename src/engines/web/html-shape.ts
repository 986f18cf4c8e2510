import { Parser } from "htmlparser2";

/** Normal pages are far below both; above them the search for an article exceeds its time limit. */
const MAX_DEPTH = 400;
const MAX_ELEMENTS = 150_000;
/** Each form is compared with all others. */
const MAX_FORMS = 500;

/** Returns false if a page is so deep, or has so many parts, that only a linear reader should process it. */
export function isOrdinary(html: string): boolean {
	let depth = 0;
	let deepest = 0;
	let elements = 0;
	let forms = 0;
	const isFine = () => deepest <= MAX_DEPTH && elements <= MAX_ELEMENTS && forms <= MAX_FORMS;
	const parser = new Parser({
		onopentag(name) {
			depth += 1;
			elements += 1;
			if (name === "form") forms += 1;
			if (depth > deepest) deepest = depth;
			if (!isFine()) parser.pause();
		},
		onclosetag() {
			depth -= 1;
		},
	});
	for (let at = 0; at < html.length && isFine(); at += 65_536) parser.write(html.slice(at, at + 65_536));
	return isFine();
}

interface TreeNode {
	readonly firstChild: TreeNode | null;
	readonly nextSibling: TreeNode | null;
	readonly parentNode: TreeNode | null;
	readonly nodeName: string;
}

/** Checks the parsed tree in the same way: that parser nests tags that browsers, and the check above, close by themselves. */
export function isOrdinaryTree(root: TreeNode): boolean {
	let depth = 0;
	let forms = 0;
	let node: TreeNode | null = root;
	while (node !== null) {
		if (node.nodeName === "FORM") forms += 1;
		if (depth > MAX_DEPTH || forms > MAX_FORMS) return false;
		if (node.firstChild !== null) {
			node = node.firstChild;
			depth += 1;
			continue;
		}
		while (node !== null && node !== root && node.nextSibling === null) {
			node = node.parentNode;
			depth -= 1;
		}
		if (node === root) return true;
		node = node?.nextSibling ?? null;
	}
	return true;
}
