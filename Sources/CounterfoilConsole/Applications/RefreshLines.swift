import CounterfoilProtocol
import CounterfoilServer

/// What the page of an application says of its refresh tokens.
package enum RefreshHappeningPhrase: String, Phrase {
    /// Answers that were given again.
    case repeats = "applications.refresh.repeats"
    /// How many; place `count`.
    case repeatsCount = "applications.refresh.repeats-count"
    /// That nobody was signed out by it.
    case repeatsMeaning = "applications.refresh.repeats-meaning"
    /// Tokens that came back when they were over.
    case reuses = "applications.refresh.reuses"
    /// How many, and when last; places `count` and `date`.
    case reusesCount = "applications.refresh.reuses-count"
    /// What a reuse is and what it leads to.
    case reusesMeaning = "applications.refresh.reuses-meaning"
    /// What people had allowed and is over.
    case revocations = "applications.refresh.revocations"
    /// How many; place `count`.
    case revocationsCount = "applications.refresh.revocations-count"
    /// Who ends them.
    case revocationsMeaning = "applications.refresh.revocations-meaning"
    /// It has never happened.
    case never = "applications.refresh.never"
}

extension ApplicationOverview {
    /// What networks, and whoever copies tokens, have done to the sign-ins of an application, as `/metrics` counts it for all.
    func refreshes(of client: RegisteredClient, words: Words) async throws -> [ApplicationPage.Happening] {
        let statistics = try await console.store.refreshStatistics(of: client.id)
        guard client.getsRefreshTokens || statistics != RefreshStatistics() else { return [] }
        func line(
            _ name: RefreshHappeningPhrase, _ phrase: RefreshHappeningPhrase, _ count: Int,
            _ meaning: RefreshHappeningPhrase, _ values: [String: Text.Value] = [:]
        ) -> ApplicationPage.Happening {
            let said =
                count == 0
                ? words(RefreshHappeningPhrase.never)
                : words(Text(phrase, values.merging(["count": .number(count)]) { former, _ in former }))
            return ApplicationPage.Happening(words(name), count: said, meaning: words(meaning))
        }
        let lastReuse = ["date": Text.Value.date(statistics.lastReuseAt ?? client.createdAt)]
        return [
            line(.repeats, .repeatsCount, statistics.repeats, .repeatsMeaning),
            line(.reuses, .reusesCount, statistics.reuses, .reusesMeaning, lastReuse),
            line(.revocations, .revocationsCount, statistics.revocations, .revocationsMeaning),
        ]
    }
}

extension RegisteredClient {
    /// Whether a person who signs in can get it a refresh token.
    var getsRefreshTokens: Bool {
        switch policy.refreshTokens {
        case .offlineAccess: type != .service && scope.contains(.offlineAccess)
        case .always: type != .service
        case .never: false
        }
    }
}
