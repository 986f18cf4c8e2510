/** Finds the route that an unknown path probably means, for the text of a 404. */
import { editDistance } from "../wire/edit-distance.ts";

/** Longer paths are not compared: they are no misspelled route. */
const MAX_LENGTH = 200;
/** Maximum edit distance between a path and its route; a short name has other short names near it. */
const editsAllowed = (path: string): number => (path.length < 8 ? 1 : 2);
/** Prefixes that base addresses of other services, and mistaken ones of this, have. */
const BEGINNINGS = /^(?:\/(?:api|v\d|openai|anthropic))*(?=\/|$)/i;
const PARAMETER = /:\w+(\{[^}]*\})?/g;

interface Route {
	/** The path below the prefix. */
	readonly path: string;
	readonly pattern: RegExp;
	/** True for a path without parameters: only such a path is compared by its spelling. */
	readonly fixed: boolean;
	/** null if the second segment is a parameter, which takes anything. */
	readonly firstSegment: string | null;
}

/**
 * Returns a function that finds the route a path means: one with another prefix, other capitals, extra slashes, without
 * its first segment, or misspelled. It returns null if none is near.
 *
 * @param routes paths as the router has them, with the prefix, like `/api/v1/models/:id`
 */
export function nearestPath(routes: readonly string[], prefix: string): (path: string) => string | null {
	const candidates = routes.filter((route) => route.startsWith(prefix)).map((route) => routeOf(route.slice(prefix.length)));
	const named = candidates.filter(({ firstSegment }) => firstSegment !== null);
	const firstSegments = [...new Set(named.map(({ firstSegment }) => firstSegment))];
	return (path) => {
		if (path.length > MAX_LENGTH) return null;
		const below = path
			.replaceAll(/\/{2,}/g, "/")
			.replace(BEGINNINGS, "")
			.replace(/\/$/, "");
		const matches = (candidate: string) => candidates.some(({ pattern }) => pattern.test(candidate));
		const isNamed = (candidate: string) => named.some(({ pattern }) => pattern.test(candidate));
		const spellings = [below, below.toLowerCase()];
		const match =
			spellings.find(matches) ??
			firstSegments.map((segment) => segment + below.toLowerCase()).find(isNamed) ??
			bySpelling(below.toLowerCase(), candidates);
		return match === undefined || prefix + match === path ? null : prefix + match;
	};
}

function routeOf(path: string): Route {
	const pattern = new RegExp(`^${path.replaceAll(PARAMETER, "[^/]+").replaceAll("*", ".*")}$`);
	const [, first, second = ":"] = path.split("/");
	const firstSegment = /[:*]/.test(`${first}${second}`) ? null : `/${first}`;
	return { path, pattern, fixed: !/[:*]/.test(path), firstSegment };
}

function bySpelling(path: string, candidates: readonly Route[]): string | undefined {
	let best: { readonly path: string; readonly edits: number } | undefined;
	for (const route of candidates) {
		if (!route.fixed || Math.abs(route.path.length - path.length) > editsAllowed(path)) continue;
		const edits = editDistance(path, route.path);
		if (edits <= editsAllowed(path) && (best === undefined || edits < best.edits)) best = { path: route.path, edits };
	}
	return best?.path;
}
