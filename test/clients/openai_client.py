"""What the Python `openai` package sees of a gateway: reads a task from stdin, writes a JSON report to stdout."""

import asyncio
import json
import sys

import openai
from pydantic import BaseModel


class Place(BaseModel):
    city: str


task = json.load(sys.stdin)
client = openai.OpenAI(base_url=task["baseUrl"], api_key=task["key"], max_retries=0)
messages = [{"role": "user", "content": "hello"}]
tools = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("lookup", "weather")
]


def called(message):
    return [
        {"id": call.id, "name": call.function.name, "arguments": json.loads(call.function.arguments)}
        for call in message.tool_calls
    ]


def chat():
    raw = client.chat.completions.with_raw_response.create(model="talk", messages=messages)
    answer = raw.parse()
    return {
        "text": answer.choices[0].message.content,
        "model": answer.model,
        "finishReason": answer.choices[0].finish_reason,
        "tokens": answer.usage.total_tokens,
        "requestId": raw.request_id,
    }


def stream(include_usage):
    options = {"stream_options": {"include_usage": True}} if include_usage else {}
    texts, usages = [], []
    for chunk in client.chat.completions.create(model="talk", messages=messages, stream=True, **options):
        if chunk.choices and chunk.choices[0].delta.content:
            texts.append(chunk.choices[0].delta.content)
        if chunk.usage:
            usages.append([len(chunk.choices), chunk.usage.total_tokens])
    return {"texts": texts, "usages": usages}


def final(**body):
    with client.chat.completions.stream(messages=messages, **body) as events:
        for _ in events:
            pass
        return events.get_final_completion()


def parallel_calls():
    body = {"model": "tools", "tools": tools, "parallel_tool_calls": True}
    unary = client.chat.completions.create(messages=messages, **body)
    streamed = final(**body)
    return {
        "unary": called(unary.choices[0].message),
        "streamed": called(streamed.choices[0].message),
        "finishReasons": [unary.choices[0].finish_reason, streamed.choices[0].finish_reason],
    }


def schema():
    answer = client.chat.completions.parse(model="schema", messages=messages, response_format=Place)
    return answer.choices[0].message.parsed.model_dump()


def reasoning():
    unary = client.chat.completions.create(model="thinks", messages=messages).choices[0].message
    thought = ""
    for chunk in client.chat.completions.create(model="thinks", messages=messages, stream=True):
        thought += getattr(chunk.choices[0].delta, "reasoning_content", None) or ""
    return {"text": unary.content, "unary": unary.reasoning_content, "streamed": thought}


def logprobs():
    body = {"model": "likely", "messages": messages, "logprobs": True, "top_logprobs": 2}
    unary = client.chat.completions.create(**body)
    tokens = []
    for chunk in client.chat.completions.create(stream=True, **body):
        if chunk.choices[0].logprobs:
            tokens += [token.token for token in chunk.choices[0].logprobs.content]
    return {"unary": [token.token for token in unary.choices[0].logprobs.content], "streamed": tokens}


def choices():
    unary = client.chat.completions.create(model="choices", messages=messages, n=2)
    streamed = final(model="choices", n=2)
    return [[[choice.index, choice.message.content] for choice in answer.choices] for answer in (unary, streamed)]


def models():
    wanted = task["slashed"]
    answer = client.chat.completions.create(model=wanted, messages=messages)
    return {
        "listed": [model.id for model in client.models.list()],
        "retrieved": client.models.retrieve(wanted).id,
        "answered": answer.model,
        "unknown": seen(lambda: client.models.retrieve("org/nobody:1b")),
    }


def responses():
    answer = client.responses.create(model="talk", input="hello", store=False)
    with client.responses.stream(model="talk", input="hello", store=False) as events:
        deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
        final_text = events.get_final_response().output_text
    parsed = client.responses.parse(model="schema", input="where?", text_format=Place, store=False)
    flat = [{"type": "function", **tool["function"], "strict": False} for tool in tools]
    calls = client.responses.create(model="tools", input="hello", tools=flat, store=False).output
    return {
        "text": answer.output_text,
        "tokens": answer.usage.total_tokens,
        "deltas": deltas,
        "final": final_text,
        "parsed": parsed.output_parsed.model_dump(),
        "calls": [[call.name, json.loads(call.arguments)] for call in calls if call.type == "function_call"],
        "unknown": seen(lambda: client.responses.create(model="nobody", input="x", store=False)),
    }


def embeddings():
    packed = client.embeddings.create(model="vectors", input=["a", "bb"])
    plain = client.embeddings.create(model="vectors", input="ccc", encoding_format="float")
    return {
        "packed": [item.embedding for item in packed.data],
        "plain": plain.data[0].embedding,
        "tokens": packed.usage.total_tokens,
    }


async def asynchronous():
    async with openai.AsyncOpenAI(base_url=task["baseUrl"], api_key=task["key"], max_retries=0) as one:
        text = ""
        async for chunk in await one.chat.completions.create(model="talk", messages=messages, stream=True):
            text += chunk.choices[0].delta.content or ""
        answers = await asyncio.gather(*(one.chat.completions.create(model="talk", messages=messages) for _ in range(8)))
        return {"streamed": text, "together": [answer.choices[0].message.content for answer in answers]}


def seen(action):
    try:
        action()
    except openai.APIError as error:
        return {
            "status": getattr(error, "status_code", None),
            "code": error.code,
            "message": str(error),
            "requestId": getattr(error, "request_id", None),
            "kind": type(error).__name__,
        }
    raise RuntimeError("the client saw no error")


def provoke(fault, streamed):
    content = "a" * fault.get("promptBytes", 1)
    if "imageUrl" in fault:
        content = [{"type": "image_url", "image_url": {"url": fault["imageUrl"]}}]
    body = {"model": fault["model"], "messages": [{"role": "user", "content": content}], "stream": streamed}
    if "temperature" in fault:
        body["temperature"] = fault["temperature"]
    with openai.OpenAI(base_url=fault["baseUrl"], api_key=fault["key"], max_retries=0) as one:
        return seen(lambda: one.chat.completions.create(**body, extra_headers=fault.get("headers")))


def broken_stream(model):
    texts = []

    def read():
        for chunk in client.chat.completions.create(model=model, messages=messages, stream=True):
            texts.append(chunk.choices[0].delta.content or "")

    error = seen(read)
    return {"text": "".join(texts), "error": error}


report = {
    "chat": chat(),
    "streamWithUsage": stream(True),
    "streamWithout": stream(False),
    "calls": parallel_calls(),
    "schema": schema(),
    "reasoning": reasoning(),
    "logprobs": logprobs(),
    "choices": choices(),
    "models": models(),
    "responses": responses(),
    "embeddings": embeddings(),
    "asynchronous": asyncio.run(asynchronous()),
    "faults": [provoke(fault, False) for fault in task["faults"]],
    "faultsOfStreams": [provoke(fault, True) for fault in task["faults"]],
    "crowded": provoke(task["crowded"], False),
    "brokenStreams": [broken_stream(model) for model in ("error-in-stream", "cut-in-stream")],
}
json.dump(report, sys.stdout)
