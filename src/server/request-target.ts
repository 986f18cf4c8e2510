import { ApiError } from "../errors/index.ts";

/** Maximum number of path segments: far more than any route, or any id with slashes, has. */
const MAX_SEGMENTS = 24;

/**
 * Route patterns that give the request target as it was sent. `request.url` is resolved against the Host header: dot
 * segments are gone and backslashes are slashes. The runtime's router sees the original target. These patterns match
 * every path without an empty segment, and their parameters are the segments as the caller wrote them.
 */
export const TARGET_PATTERNS: readonly string[] = patterns();

function patterns(): string[] {
	const all = ["/"];
	let pattern = "";
	for (let count = 0; count < MAX_SEGMENTS; count++) {
		pattern += `/:segment${count}`;
		all.push(pattern, `${pattern}/`);
	}
	return all;
}

/** Matches dot segments (RFC 3986 5.2.4), backslashes and NUL in a decoded path. */
const AMBIGUOUS = /(?:^|\/)\.{1,2}(?:\/|$)|[\\\0]/;

/**
 * Refuses a target that a proxy in front of us could read as another path. No part of it is resolved or repaired (RFC
 * 9112 3.2).
 *
 * @param segments the decoded path segments, from the patterns above
 * @throws ApiError INVALID_REQUEST
 */
export function checkTarget(url: string, segments: Readonly<Record<string, string>>): void {
	let path = "";
	for (const name in segments) path += `/${segments[name]}`;
	if (AMBIGUOUS.test(path))
		throw new ApiError("INVALID_REQUEST", { message: "The path has a dot segment, a backslash or a NUL; send it without" });
	// A fragment is no part of a target (RFC 9112 3.2.1): some readers end the path there, others do not.
	if (url.includes("#")) throw new ApiError("INVALID_REQUEST", { message: "The request target has a '#'; encode it as %23" });
}

/**
 * Returns the request with an absolute URL. If the Host header is empty or missing, `request.url` is the path alone.
 */
export function withAbsoluteUrl(request: Request): Request {
	return request.url.startsWith("/") ? new Request(`http://localhost${request.url}`, request) : request;
}

/** Returns the path of an absolute URL, as it was written. */
export function pathOf(url: string): string {
	const start = url.indexOf("/", url.indexOf("://") + 3);
	if (start < 0) return "/";
	const end = url.indexOf("?", start);
	return end < 0 ? url.slice(start) : url.slice(start, end);
}
