import manifest from "../../package.json" with { type: "json" };

/** The package's version. */
export const VERSION: string = manifest.version;

/** Build id of x-service-version, `YYYYMMDD.hhmmss`, set for each release. */
export const BUILD = "20261127.230000";
