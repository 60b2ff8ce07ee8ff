/// Polling for the effects of another process.
package enum Waiting {
    /// An error: the condition did not hold in time.
    package struct InVain: Error, CustomStringConvertible {
        package let description: String
    }

    /// Polls until there is an answer, or throws after the limit.
    package static func until<Answer>(
        _ what: String, within limit: Duration = .seconds(30), _ answer: () async throws -> Answer?
    ) async throws -> Answer {
        let deadline = ContinuousClock.now + limit
        while true {
            if let answer = try await answer() { return answer }
            guard ContinuousClock.now < deadline else { throw InVain(description: "waited in vain for \(what)") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
