"""What LiteLLM and LangChain see of a gateway: reads a task from stdin, writes a JSON report to stdout."""

import asyncio
import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LITELLM_TELEMETRY"] = "False"

import litellm
from langchain_openai import ChatOpenAI

# Both print as they like: the report alone is on stdout.
report_to, sys.stdout = sys.stdout, sys.stderr
task = json.load(sys.stdin)
messages = [{"role": "user", "content": "hello"}]
tools = [
    {
        "type": "function",
        "function": {"name": name, "description": name, "parameters": {"type": "object", "properties": {}}},
    }
    for name in ("lookup", "weather")
]
schema = {
    "title": "place",
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
litellm.telemetry = False


def ask(model, **more):
    return litellm.completion(
        model=f"openai/{model}",
        api_base=task["baseUrl"],
        api_key=task["key"],
        messages=more.pop("messages", messages),
        num_retries=0,
        max_retries=0,
        **more,
    )


def lite_chat():
    answer = ask("talk")
    return [answer.choices[0].message.content, answer.choices[0].finish_reason, answer.usage.total_tokens]


def lite_stream():
    chunks = list(ask("talk", stream=True, stream_options={"include_usage": True}))
    texts = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]
    whole = litellm.stream_chunk_builder(chunks)
    return [texts, whole.usage.total_tokens]


def lite_calls(stream):
    answer = ask("tools", tools=tools, stream=stream)
    if stream:
        answer = litellm.stream_chunk_builder(list(answer))
    calls = answer.choices[0].message.tool_calls
    return [[call.id, call.function.name, json.loads(call.function.arguments)] for call in calls]


def lite_loop():
    said = ask("loop", tools=tools).choices[0].message
    results = [{"role": "tool", "tool_call_id": call.id, "content": "42"} for call in said.tool_calls]
    return ask("loop", tools=tools, messages=[*messages, said.model_dump(), *results]).choices[0].message.content


def lite_schema(model):
    response_format = {"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": schema}}
    return json.loads(ask(model, response_format=response_format).choices[0].message.content)


def lite_reasoning(model):
    whole = ask(model).choices[0].message
    thoughts = [getattr(chunk.choices[0].delta, "reasoning_content", None) or "" for chunk in ask(model, stream=True)]
    return [whole.content, whole.reasoning_content, "".join(thoughts)]


def lite_error():
    try:
        ask("nobody")
    except litellm.NotFoundError as error:
        return [error.status_code, "Unknown model" in str(error)]


async def lite_async():
    answers = await asyncio.gather(
        *(
            litellm.acompletion(model="openai/talk", api_base=task["baseUrl"], api_key=task["key"], messages=messages)
            for _ in range(4)
        )
    )
    return [answer.choices[0].message.content for answer in answers]


def chain(model):
    return ChatOpenAI(model=model, base_url=task["baseUrl"], api_key=task["key"], max_retries=0, stream_usage=True)


def chain_chat():
    answer = chain("talk").invoke("hello")
    return [answer.content, answer.usage_metadata["total_tokens"], answer.response_metadata["finish_reason"]]


def chain_stream(model, **more):
    whole = None
    for chunk in (chain(model).bind_tools(tools) if more.get("tools") else chain(model)).stream("hello"):
        whole = chunk if whole is None else whole + chunk
    return whole


def chain_calls(answer):
    return [[call["id"], call["name"], call["args"]] for call in answer.tool_calls]


streamed = chain_stream("talk")
report = {
    "litellm": {
        "chat": lite_chat(),
        "stream": lite_stream(),
        "calls": [lite_calls(False), lite_calls(True)],
        "loop": lite_loop(),
        "schemas": [lite_schema("schema"), lite_schema("mends")],
        "reasoning": [lite_reasoning("thinks"), lite_reasoning("inline")],
        "error": lite_error(),
        "together": asyncio.run(lite_async()),
    },
    "langchain": {
        "chat": chain_chat(),
        "stream": [streamed.content, streamed.usage_metadata["total_tokens"]],
        "calls": [
            chain_calls(chain("tools").bind_tools(tools).invoke("hello")),
            chain_calls(chain_stream("tools", tools=True)),
        ],
        "schemas": [
            chain(model).with_structured_output(schema, method="json_schema").invoke("hello")
            for model in ("schema", "mends")
        ],
    },
}
json.dump(report, report_to)
