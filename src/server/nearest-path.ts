/** Which route a path probably means that is none: for the text of a 404. */
import { editDistance } from "../wire/edit-distance.ts";

/** Longer paths are no misspelled route. */
const MAX_LENGTH = 200;
/** Edits between a route and a path that is still taken for it; a short name has other short names near it. */
const editsAllowed = (path: string): number => (path.length < 8 ? 1 : 2);
/** Beginnings that base addresses of other services, and mistaken ones of this, have. */
const BEGINNINGS = /^(?:\/(?:api|v\d|openai|anthropic))*(?=\/|$)/i;
const PARAMETER = /:\w+(\{[^}]*\})?/g;

interface Route {
	/** Below the prefix. */
	readonly path: string;
	readonly pattern: RegExp;
	/** Without parameters: only such a path is compared by its spelling. */
	readonly fixed: boolean;
	/** null where the second one is a parameter, which takes anything. */
	readonly firstSegment: string | null;
}

/**
 * Makes the function that tells the route a path means: one with another beginning, in other letters (capitals), with
 * slashes too many, without its first segment, or misspelled. It returns null where none is near.
 *
 * @param routes paths as the router has them, with the prefix, like `/api/v1/models/:id`
 */
export function nearestPath(routes: readonly string[], prefix: string): (path: string) => string | null {
	const known = routes.filter((route) => route.startsWith(prefix)).map((route) => routeOf(route.slice(prefix.length)));
	const named = known.filter(({ firstSegment }) => firstSegment !== null);
	const firstSegments = [...new Set(named.map(({ firstSegment }) => firstSegment))];
	return (path) => {
		if (path.length > MAX_LENGTH) return null;
		const below = path
			.replaceAll(/\/{2,}/g, "/")
			.replace(BEGINNINGS, "")
			.replace(/\/$/, "");
		const matches = (candidate: string) => known.some(({ pattern }) => pattern.test(candidate));
		const isNamed = (candidate: string) => named.some(({ pattern }) => pattern.test(candidate));
		const spellings = [below, below.toLowerCase()];
		const found =
			spellings.find(matches) ??
			firstSegments.map((segment) => segment + below.toLowerCase()).find(isNamed) ??
			bySpelling(below.toLowerCase(), known);
		return found === undefined || prefix + found === path ? null : prefix + found;
	};
}

function routeOf(path: string): Route {
	const pattern = new RegExp(`^${path.replaceAll(PARAMETER, "[^/]+").replaceAll("*", ".*")}$`);
	const [, first, second = ":"] = path.split("/");
	const firstSegment = /[:*]/.test(`${first}${second}`) ? null : `/${first}`;
	return { path, pattern, fixed: !/[:*]/.test(path), firstSegment };
}

function bySpelling(path: string, known: readonly Route[]): string | undefined {
	let best: { readonly path: string; readonly edits: number } | undefined;
	for (const route of known) {
		if (!route.fixed || Math.abs(route.path.length - path.length) > editsAllowed(path)) continue;
		const edits = editDistance(path, route.path);
		if (edits <= editsAllowed(path) && (best === undefined || edits < best.edits)) best = { path: route.path, edits };
	}
	return best?.path;
}
