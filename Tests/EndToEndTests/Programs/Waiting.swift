/// Waiting for what another process does.
enum Waiting {
    /// What did not come to pass in time.
    struct InVain: Error, CustomStringConvertible {
        let description: String
    }

    /// Asks again and again until there is an answer, or throws when the time is over.
    static func until<Answer>(
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
