import Testing

/// A path through the pages on which each ``Screen`` is checked.
enum Walk: CaseIterable, Sendable {
    /// From the client to consent and back.
    case usualWay
    /// Pages that few users see on that path.
    case otherWays
    /// Signing in on a device without a browser.
    case device
    /// The first start of a server.
    case firstStart
    /// Setting up a second factor that is required, and signing in with it.
    case secondStep
    /// Setting a new password without the former one.
    case recovery
    /// Creating an account, and accepting the terms.
    case signUp
    /// Signing in to the console.
    case door
    case developer
    case administrator
    case account
}

extension Stage {
    /// Runs a walk with a function that checks the open screen, and expects that it checked every screen of
    /// the walk.
    ///
    /// It also expects that the pages load nothing from other origins and violate no security policy.
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
