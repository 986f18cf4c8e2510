export interface SettingRow {
	/** A path like `server.port` or `upstreams.gpu-a.url`. */
	readonly path: string;
	/** The value as text; lists of plain values are one line. */
	readonly value: string;
}

/** Returns a row for each leaf of a configuration. */
export function settingRows(value: unknown, path = ""): readonly SettingRow[] {
	if (Array.isArray(value)) {
		if (value.every((each) => typeof each !== "object" || each === null))
			return [{ path, value: value.length === 0 ? "[]" : value.join(", ") }];
		return value.flatMap((each, index) => settingRows(each, `${path}[${index}]`));
	}
	if (typeof value === "object" && value !== null) {
		const entries = Object.entries(value);
		if (entries.length === 0) return [{ path, value: "{}" }];
		return entries.flatMap(([name, each]) => settingRows(each, path === "" ? name : `${path}.${name}`));
	}
	return [{ path, value: String(value) }];
}
