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
export { audioRateLimit, resolveAudioModel, unitsNano } from "./audio-request.ts";
export { buildCatalog } from "./build-catalog.ts";
export { callPrice } from "./call-price.ts";
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
export { imageRateLimit, linesNano } from "./image-request.ts";
export { type ImageSize, largestSize, nearestRatio, ratioOf, tierSize } from "./image-size.ts";
export { leastTextPrice } from "./least-text-price.ts";
export { type CatalogData, loadCatalogData, loadCharacterData } from "./load-data.ts";
export * from "./service-parameters.ts";
export { textRateLimit } from "./text-rate-limit.ts";
export type * from "./types.ts";
