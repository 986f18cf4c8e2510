/**
 * The callable models and their names: traits, compatibility names, suffixes, characters. A catalog never changes once built, a
 * look-up costs a few map reads, and the prices shown are the integers that are charged. It contacts upstreams only for their
 * lists, and never delays a request.
 */
export {
	CharacterAnswerSchema,
	CharacterListSchema,
	CharacterReviewListSchema,
	CharacterSchema,
	ModelListSchema,
	ModelQuerySchema,
	ModelSchema,
	ModelsQuerySchema,
	ModelTypeQuerySchema,
	NameMapSchema,
} from "./answers.ts";
export { buildCatalog } from "./build-catalog.ts";
export { Catalog, type Resolution } from "./catalog.ts";
export { CatalogError } from "./catalog-error.ts";
export { type CharacterEntry, Characters } from "./characters.ts";
export { type CharactersQuery, CharactersQuerySchema, ReviewsQuerySchema } from "./characters-query.ts";
export type { CharacterData } from "./data-schema.ts";
export { DiscoveryError, type DiscoveryFault, discoverModels } from "./discover-models.ts";
export { Discovery, type DiscoveryOptions, type DiscoveryStatus } from "./discovery.ts";
export { type CatalogSources, EMBEDDED } from "./drafts.ts";
export { type FreeUpstream, freeUpstreams, hasFreeModel, unpricedUpstreams } from "./free-models.ts";
export { imagePrice } from "./image-model.ts";
export { type ImageSize, largestSize, nearestRatio, ratioOf, tierSize } from "./image-size.ts";
export { type CatalogData, loadCatalogData, loadCharacterData } from "./load-data.ts";
export { callPrice, leastTextPrice, linesNano, unitsNano } from "./prices.ts";
export { audioRateLimit, imageRateLimit, textRateLimit } from "./rate-limits.ts";
export { resolveAudioModel } from "./resolve-audio-model.ts";
export * from "./service-parameters.ts";
export type * from "./types.ts";
