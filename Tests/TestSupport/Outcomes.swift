/// Runs an operation concurrently `count` times, and counts the outcomes.
package func outcomes<Outcome: Hashable & Sendable>(
    of count: Int,
    _ attempt: @escaping @Sendable (Int) async throws -> Outcome
) async throws -> [Outcome: Int] {
    try await withThrowingTaskGroup(of: Outcome.self) { group in
        for number in 0..<count { group.addTask { try await attempt(number) } }
        return try await group.reduce(into: [:]) { counts, outcome in counts[outcome, default: 0] += 1 }
    }
}
