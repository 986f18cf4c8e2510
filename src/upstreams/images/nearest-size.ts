interface Size {
	readonly width: number;
	readonly height: number;
}

/** Of sizes like `1536x1024` the one nearest in ratio, the largest of several alike; null where there is none. */
export function nearestSize(sizes: readonly string[], wanted: Size): string | null {
	const known = sizes.flatMap((name) => {
		const found = /^(\d{1,5})x(\d{1,5})$/.exec(name);
		return found === null ? [] : [{ name, width: Number(found[1]), height: Number(found[2]) }];
	});
	const off = ({ width, height }: Size) => Math.abs(Math.log((width / height) * (wanted.height / wanted.width)));
	known.sort((a, b) => off(a) - off(b) || b.width * b.height - a.width * a.height);
	return known[0]?.name ?? null;
}

/** What an upstream that makes these sizes is asked for; it makes any where they are not known. null: it is told none. */
export function requestedSize(wanted: Size | null, known: readonly string[] | undefined): string | null {
	if (wanted === null) return null;
	return known === undefined ? `${wanted.width}x${wanted.height}` : nearestSize(known, wanted);
}
