import Testing

/// A way through the pages on which each ``Screen`` of it is judged.
enum Walk: CaseIterable, Sendable {
    /// From an application to the consent and back.
    case usualWay
    /// What few people see on that way.
    case otherWays
    /// The first minutes of a server.
    case firstStart
    /// Signing in to the console.
    case door
    case developer
    case administrator
    case account
}

extension Stage {
    /// Walks, with what judges the screen that is open, and expects that no screen of the walk was left out.
    ///
    /// Nothing foreign may be loaded on the way, and no page may break its own policy.
    func walk(_ walk: Walk, _ body: (_ judge: (Screen) async throws -> Void) async throws -> Void) async throws {
        var judged: Set<Screen> = []
        try await body { screen in
            try await judge(screen.rawValue)
            judged.insert(screen)
        }
        #expect(judged == Set(Screen.allCases.filter { $0.walk == walk }))
        try await expectNoComplaints()
        try await expectNothingForeign()
    }
}
