import { join } from "node:path";
import { checker } from "../schema/index.ts";
import { CatalogError } from "./catalog-error.ts";
import { type Check, checked, readJson } from "./data-file.ts";
import {
	type CharacterData,
	CharacterFileSchema,
	MappingFileSchema,
	type MediaModelData,
	MODEL_DATA_SCHEMAS,
	type ModelData,
	ModelFileSchema,
	type TextModelData,
} from "./data-schema.ts";
import type { ModelType } from "./types.ts";

/** The validated data files. */
export interface CatalogData {
	readonly textModels: readonly TextModelData[];
	readonly mediaModels: readonly MediaModelData[];
	/** type -> compatibility name -> model id. */
	readonly mappings: Partial<Record<ModelType, Readonly<Record<string, string>>>>;
	readonly characters: readonly CharacterData[];
}

const modelFile = checker(ModelFileSchema);
const mappingFile = checker(MappingFileSchema);
const characterFile = checker(CharacterFileSchema);
const modelChecks: Readonly<Record<ModelType, Check<ModelData>>> = {
	text: checker(MODEL_DATA_SCHEMAS.text),
	tts: checker(MODEL_DATA_SCHEMAS.tts),
	asr: checker(MODEL_DATA_SCHEMAS.asr),
	embedding: checker(MODEL_DATA_SCHEMAS.embedding),
	image: checker(MODEL_DATA_SCHEMAS.image),
	inpaint: checker(MODEL_DATA_SCHEMAS.inpaint),
	upscale: checker(MODEL_DATA_SCHEMAS.upscale),
	music: checker(MODEL_DATA_SCHEMAS.music),
	video: checker(MODEL_DATA_SCHEMAS.video),
};

/**
 * Reads and validates the catalog's data files of one folder.
 * @throws {CatalogError} with the file, the path in it and the expectation
 */
export function loadCatalogData(dir: string): CatalogData {
	const types = new Map<string, ModelType>();
	const textModels = readTextModels(join(dir, "text-models.json"), types);
	const mediaModels = readMediaModels(join(dir, "media-models.json"), types);
	const mappings = readMappings(join(dir, "mappings.json"), types);
	return { textModels, mediaModels, mappings, characters: loadCharacterData(join(dir, "characters.json")) };
}

/**
 * Reads and validates one file of characters: the built-in one, or an operator's instead.
 * @throws {CatalogError} with the file, the path in it and the expectation
 */
export function loadCharacterData(file: string): readonly CharacterData[] {
	const { characters } = checked(file, characterFile, readJson(file));
	const slugs = new Set<string>();
	for (const [index, { slug }] of characters.entries()) {
		if (slugs.has(slug)) throw new CatalogError(file, `characters[${index}].slug`, `"${slug}" is there twice`);
		slugs.add(slug);
	}
	return characters;
}

function readTextModels(file: string, types: Map<string, ModelType>): TextModelData[] {
	return readModels(file, types).map((model, index) => {
		if (model.type === "text") return model;
		throw new CatalogError(file, `models[${index}].type`, "must be text; other types stand in media-models.json");
	});
}

function readMediaModels(file: string, types: Map<string, ModelType>): MediaModelData[] {
	return readModels(file, types).map((model, index) => {
		if (model.type === "text")
			throw new CatalogError(file, `models[${index}].type`, "must not be text; those models stand in text-models.json");
		if (model.type === "tts" && !model.voices.includes(model.defaultVoice))
			throw new CatalogError(file, `models[${index}].defaultVoice`, "must be one of the model's voices");
		return model;
	});
}

/** Adds each model's type to `types`, which has those of the files read before. */
function readModels(file: string, types: Map<string, ModelType>): ModelData[] {
	const { models } = checked(file, modelFile, readJson(file));
	return models.map((listed, index) => {
		const model = checked(file, modelChecks[listed.type], listed, ["models", index]);
		if (types.has(model.id)) throw new CatalogError(file, `models[${index}].id`, `"${model.id}" is there twice`);
		types.set(model.id, model.type);
		return model;
	});
}

function readMappings(file: string, types: ReadonlyMap<string, ModelType>): CatalogData["mappings"] {
	const { mappings } = checked(file, mappingFile, readJson(file));
	for (const [type, names] of Object.entries(mappings)) {
		for (const [name, id] of Object.entries(names)) {
			if (types.get(id) !== type)
				throw new CatalogError(file, `mappings.${type}.${name}`, `there is no ${type} model "${id}" in the data files`);
		}
	}
	return mappings;
}
