interface Size {
	readonly width: number;
	readonly height: number;
}

/** Returns the size like `1536x1024` with the nearest ratio, and of equal ones the largest; null if there is none. */
export function nearestSize(sizes: readonly string[], size: Size): string | null {
	const known = sizes.flatMap((name) => {
		const match = /^(\d{1,5})x(\d{1,5})$/.exec(name);
		return match === null ? [] : [{ name, width: Number(match[1]), height: Number(match[2]) }];
	});
	const off = ({ width, height }: Size) => Math.abs(Math.log((width / height) * (size.height / size.width)));
	known.sort((a, b) => off(a) - off(b) || b.width * b.height - a.width * a.height);
	return known[0]?.name ?? null;
}

/** Returns the size to request of an upstream. Without a list of sizes it supports any. null: no size is sent. */
export function requestedSize(size: Size | null, supported: readonly string[] | undefined): string | null {
	if (size === null) return null;
	return supported === undefined ? `${size.width}x${size.height}` : nearestSize(supported, size);
}
