"""Calls a chain through web3.py and writes what it saw as JSON. Reads url, key, sender's key, receiver, contract."""

import json
import sys

from web3 import Web3
from web3.exceptions import ContractCustomError, ContractLogicError

given = json.load(sys.stdin)
headers = {"Authorization": f"Bearer {given['key']}", "Content-Type": "application/json"}
w3 = Web3(Web3.HTTPProvider(given["url"], request_kwargs={"headers": headers}))
account = w3.eth.account.from_key(given["senderKey"])


def send(transaction):
    transaction = {**transaction, "nonce": w3.eth.get_transaction_count(account.address)}
    signed = account.sign_transaction(transaction)
    return w3.eth.wait_for_transaction_receipt(w3.eth.send_raw_transaction(signed.raw_transaction))


def fees():
    return {"from": account.address, "chainId": w3.eth.chain_id}


seen = {"chainId": w3.eth.chain_id, "connected": w3.is_connected()}

paid = send(
    {
        **fees(),
        "to": given["receiver"],
        "value": w3.to_wei("0.5", "ether"),
        "gas": 21000,
        "maxFeePerGas": w3.eth.gas_price * 2,
        "maxPriorityFeePerGas": w3.eth.max_priority_fee,
    }
)
seen["paid"] = {"status": paid["status"], "balance": str(w3.eth.get_balance(given["receiver"]))}

draft = w3.eth.contract(abi=given["abi"], bytecode=given["bytecode"])
deployed = send(draft.constructor().build_transaction(fees()))
counter = w3.eth.contract(address=deployed["contractAddress"], abi=given["abi"])
seen["estimate"] = counter.functions.add(7).estimate_gas({"from": account.address})
added = send(counter.functions.add(7).build_transaction(fees()))
logs = counter.events.Added().get_logs(from_block=added["blockNumber"], to_block=added["blockNumber"])
seen["logs"] = [[log["args"]["by"], log["args"]["amount"]] for log in logs]
seen["sum"] = counter.functions.sum().call()

try:
    counter.functions.add(101).call({"from": account.address})
except ContractCustomError as error:
    seen["customError"] = error.data
try:
    counter.functions.add(0).call({"from": account.address})
except ContractLogicError as error:
    seen["reason"] = error.message

with w3.batch_requests() as batch:
    for block in range(3):
        batch.add(w3.eth.get_block(block))
    seen["batch"] = [block["number"] for block in batch.execute()]

json.dump(seen, sys.stdout)
