/** The used parts of these two packages, which have no types. */
declare module "turndown" {
	interface TurndownNode {
		readonly nodeName: string;
		readonly parentNode: TurndownNode | null;
		readonly nextSibling: TurndownNode | null;
		readonly children: ArrayLike<TurndownNode>;
		getAttribute(name: string): string | null;
	}
	interface TurndownRule {
		filter: string | readonly string[];
		replacement(content: string, node: TurndownNode): string;
	}
	type TurndownPlugin = (service: TurndownService) => void;
	export default class TurndownService {
		constructor(options: Readonly<Record<string, string>>);
		use(plugin: TurndownPlugin): this;
		remove(filter: readonly string[]): this;
		addRule(key: string, rule: TurndownRule): this;
		turndown(html: string): string;
	}
}

declare module "@joplin/turndown-plugin-gfm" {
	import type TurndownService from "turndown";
	export const gfm: (service: TurndownService) => void;
}
