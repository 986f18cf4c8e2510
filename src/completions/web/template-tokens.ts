/**
 * The signs by which chat templates begin and end messages, turns, thoughts and tool calls. Servers read them as single
 * tokens anywhere in a prompt, so a text from outside must not contain one.
 *
 * A sign `<name>` or `[NAME]` includes its closing form. Plain words that some old templates take for the start of a
 * turn (`### Human:`, `USER:`) are not listed: every tokenizer reads them as text, and they are common in texts.
 */
export const TEMPLATE_TOKENS: readonly { readonly family: string; readonly source: string; readonly signs: readonly string[] }[] =
	[
		{
			// All signs between `<|` and `|>`, also with DeepSeek's fullwidth bar.
			family: "ChatML, Llama 3, GLM, Phi, Granite, Command, gpt-oss, Kimi, DeepSeek, Gemma 4; EXAONE",
			source: "tokenizer_config.json of each family; openai/harmony, docs/format.md",
			signs: ["<|", "<｜", "[|"],
		},
		{
			family: "Gemma 4: the ends of its turns, thoughts and calls",
			source: "google-deepmind/gemma, gemma/gm/text; google/gemma-4, chat_template.jinja",
			signs: ["<turn|>", "<channel|>", "<tool|>", "<tool_call|>", "<tool_response|>", "<image|>", "<audio|>", "<video|>"],
		},
		{
			family: "Llama 2, and tokenizers made by SentencePiece",
			source: "meta-llama/llama, llama/generation.py; google/sentencepiece, doc/special_symbols.md",
			signs: ["<s>", "<unk>", "<pad>", "<mask>", "<bos>", "<eos>", "<0x", "<<SYS>>", "<</SYS>>", "[INST]"],
		},
		{
			family: "Mistral",
			source: "mistralai/mistral-common, tokens/tokenizers/base.py (SpecialTokens)",
			signs: [
				"[AVAILABLE_TOOLS]",
				"[TOOL_CALLS]",
				"[TOOL_RESULTS]",
				"[TOOL_CONTENT]",
				"[SYSTEM_PROMPT]",
				"[MODEL_SETTINGS]",
				"[THINK]",
				"[ARGS]",
				"[CALL_ID]",
				"[IMG]",
				"[IMG_BREAK]",
				"[IMG_END]",
				"[PREFIX]",
				"[MIDDLE]",
				"[SUFFIX]",
				"[AUDIO]",
				"[BEGIN_AUDIO]",
				"[TRANSCRIBE]",
			],
		},
		{
			family: "Gemma",
			source: "google/gemma, docs: prompt structure; google-deepmind/gemma, gemma/gm/text/_tokenizer.py",
			signs: ["<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<end_of_image>", "<image_soft_token>", "<unused", "<ctrl"],
		},
		{
			family: "FunctionGemma",
			source: "google/functiongemma-270m-it, tokenizer_config.json and chat_template.jinja",
			signs: ["<start_function_", "<end_function_", "<escape>"],
		},
		{
			family: "Command and Aya, beside ChatML's form",
			source: "CohereLabs/c4ai-command-r-v01 and aya-expanse-8b, tokenizer_config.json",
			signs: ["<BOS_TOKEN>", "<EOS_TOKEN>", "<EOP_TOKEN>", "<MASK_TOKEN>", "<PAD>", "<UNK>", "<CLS>", "<SEP>"],
		},
		{
			family: "SmolVLM and Idefics, InternVL",
			source:
				"HuggingFaceTB/SmolVLM-Instruct and OpenGVLab/InternVL3-8B, tokenizer_config.json, added_tokens.json and chat_template.json",
			signs: ["<end_of_utterance>", "<fake_token_around_image>", "<global-img>", "<row_", "<IMG_CONTEXT>"],
		},
		{
			family: "Seed-Coder",
			source: "ByteDance-Seed/Seed-Coder-8B-Instruct, tokenizer_config.json",
			signs: ["<[begin", "<[end", "<[PAD", "<[SEP", "<[fim"],
		},
		{
			family: "GLM",
			source: "THUDM/chatglm3 and zai-org/GLM-4.5, tokenizer_config.json and chat_template.jinja",
			signs: ["[gMASK]", "[sMASK]", "[MASK]", "<sop>", "<eop>", "<arg_key>", "<arg_value>"],
		},
		{
			family: "BERT, InternLM, Baichuan, and other tokenizers by WordPiece",
			source:
				"google-research/bert, tokenization.py; InternLM/InternLM and baichuan-inc/Baichuan2, tokenizer_config.json and generation_utils.py",
			signs: [
				"<eoh>",
				"<eoa>",
				"<TOKENS_UNUSED_",
				"<reserved_",
				"[CLS]",
				"[SEP]",
				"[PAD]",
				"[UNK]",
				"[BOS]",
				"[EOS]",
				"[UNUSED_TOKEN",
			],
		},
		{
			family: "Qwen, Hermes and Llama 3.1: calls of tools",
			source: "NousResearch/Hermes-Function-Calling; QwenLM/Qwen3, chat_template; meta-llama/llama-models, prompt formats",
			signs: [
				"<tool_call>",
				"<tool_calls>",
				"<tool_response>",
				"<tool_responses>",
				"<tool_result>",
				"<tool_results>",
				"<tools>",
				"<available_tools>",
				"<function_call>",
				"<function_calls>",
				"<function_results>",
				"<function=",
				"</function>",
				"<parameter=",
				"</parameter>",
				"<TOOLCALL>",
				"<AVAILABLE_TOOLS>",
				"<TOOL_RESPONSE>",
			],
		},
		{
			family: "Models that think",
			source: "deepseek-ai/DeepSeek-R1, README; QwenLM/QwQ and zai-org/GLM-4.5, chat_template.jinja",
			signs: ["<think>", "<thinking>", "<thought>", "<reasoning>"],
		},
		{
			family: "Seed-OSS",
			source: "ByteDance-Seed/seed-oss, chat_template.jinja",
			signs: ["<seed:", "</seed:"],
		},
		{
			family: "MiniMax",
			source: "MiniMax-AI/MiniMax-M2, chat_template.jinja",
			signs: ["]~b]", "]~!b[", "[e~[", "<minimax:", "</minimax:", "<beginning_of_sentence>", "<end_of_sentence>"],
		},
		{
			family: "Ling, MiniCPM, Nemotron, LongCat",
			source:
				"inclusionAI/Ling-V2, OpenBMB/MiniCPM, NVIDIA-NeMo and meituan-longcat, chat templates; ggml-org/llama.cpp, src/llama-chat.cpp",
			signs: ["<role>", "<AI>", "<用户>", "<extra_id_", "<SPECIAL_", "<longcat_", "</longcat_"],
		},
		{
			family: "Step, Kimi-VL, Pangu, TeleChat, Reka, Skywork",
			source:
				"stepfun-ai/step3, moonshotai/Kimi-VL-A3B-Thinking, ascend-tribe/openPangu-Embedded-7B, Tele-AI/TeleChat2, RekaAI/reka-flash-3 and Skywork/Skywork-13B-base, tokenizer_config.json and chat templates",
			signs: ["<steptml:", "</steptml:", "◁think▷", "◁/think▷", "[unused", "<_", "<sep>", "[USER]", "[BOT]"],
		},
		{
			family: "Falcon",
			source: "tiiuae/falcon-7b, special_tokens_map.json and tokenizer.json",
			signs: [
				">>TITLE<<",
				">>ABSTRACT<<",
				">>INTRODUCTION<<",
				">>SUMMARY<<",
				">>COMMENT<<",
				">>ANSWER<<",
				">>QUESTION<<",
				">>DOMAIN<<",
				">>PREFIX<<",
				">>SUFFIX<<",
				">>MIDDLE<<",
			],
		},
		{
			family: "LLaVA, PaliGemma and others: where media stand",
			source: "llava-hf/llava-1.5-7b-hf and google/paligemma-3b-mix-224, tokenizer_config.json and added_tokens.json",
			signs: ["<image>", "<video>", "<audio>", "<loc0", "<seg0"],
		},
		{
			family: "Code models: filling in the middle",
			source: "bigcode-project/starcoder2 and meta-llama/codellama, README; Qwen/Qwen2.5-Coder, tokenizer_config.json",
			signs: [
				"<fim_prefix>",
				"<fim_middle>",
				"<fim_suffix>",
				"<fim_pad>",
				"<file_sep>",
				"<repo_name>",
				"<PRE>",
				"<MID>",
				"<SUF>",
				"<EOT>",
				"<EOD>",
			],
		},
	];

/** An upper bound of a sign's length. */
export const LONGEST_TOKEN_CHARS = 64;

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");

/** Returns a sign and its closing form. */
const forms = (sign: string) => (/^[<[][^</]*[>\]]$/.test(sign) ? [sign, `${sign[0]}/${sign.slice(1)}`] : [sign]);

/**
 * Matches characters that normalization (NFKC) turns into ASCII (fullwidth and small forms, mathematical and circled
 * letters) or removes: tokenizers that normalize read a sign in them too.
 */
const NORMALIZED =
	"\\u00aa\\u00ad\\u00ba\\u017f\\u034f\\u061c\\u115f\\u1160\\u180e\\u200c-\\u200f\\u2070-\\u209c\\u2100-\\u214f\\u2460-\\u24ff\\u3164\\ufe00-\\ufe0f\\ufe33-\\ufe6b\\uff01-\\uff5e\\ufff9-\\ufffb\\u{1d400}-\\u{1d7ff}";
/** Further into a word no sign has one. */
const REACH = 24;

/** Matches the first character of each sign, so that a space after it breaks the sign. */
export function firstTemplateToken(): RegExp {
	const rests = new Map<string, string[]>();
	for (const sign of TEMPLATE_TOKENS.flatMap(({ signs }) => signs.flatMap(forms))) {
		const first = sign.slice(0, 1);
		rests.set(first, [...(rests.get(first) ?? []), escaped(sign.slice(1))]);
	}
	const plain = [...rests].map(([first, rest]) => `${escaped(first)}(?=${rest.join("|")})`);
	const otherwise = `[<\\[](?=\\S{0,${REACH}}[${NORMALIZED}])|[\\uff1c\\ufe64\\uff3b]`;
	return new RegExp([...plain, otherwise].join("|"), "gu");
}
