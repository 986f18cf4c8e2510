// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// What the tests of chain clients need: a state, an event, and an error with data.
contract Counter {
    error TooMuch(uint256 asked, uint256 allowed);

    event Added(address indexed by, uint256 amount, uint256 sum);

    uint256 public constant ALLOWED = 100;
    uint256 public sum;

    function add(uint256 amount) external returns (uint256) {
        if (amount > ALLOWED) revert TooMuch(amount, ALLOWED);
        require(amount != 0, "nothing to add");
        sum += amount;
        emit Added(msg.sender, amount, sum);
        return sum;
    }
}
