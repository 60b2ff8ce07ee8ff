import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

/// The labels of the statistics of refresh tokens.
private enum RefreshLabel: String, LocalizationKey {
    case repeats = "applications.refresh.repeats"
    /// A text with the placeholder `count`.
    case repeatsCount = "applications.refresh.repeats-count"
    case repeatsMeaning = "applications.refresh.repeats-meaning"
    case reuses = "applications.refresh.reuses"
    /// A text with the placeholders `count` and `date`.
    case reusesCount = "applications.refresh.reuses-count"
    case reusesMeaning = "applications.refresh.reuses-meaning"
    case revocations = "applications.refresh.revocations"
    /// A text with the placeholder `count`.
    case revocationsCount = "applications.refresh.revocations-count"
    case revocationsMeaning = "applications.refresh.revocations-meaning"
    case never = "applications.refresh.never"
}

extension ClientOverview {
    /// Returns the refresh statistics of a client in words.
    ///
    /// `/metrics` reports the same counts for all clients together.
    func refreshes(of client: RegisteredClient, words: Localizer) async throws -> [ClientPage.RefreshStatistic] {
        let statistics = try await console.store.refreshStatistics(of: client.id)
        guard client.getsRefreshTokens || statistics != RefreshStatistics() else { return [] }
        func line(
            _ name: RefreshLabel, _ counted: RefreshLabel, _ count: Int,
            _ meaning: RefreshLabel, _ values: [String: LocalizedText.Value] = [:]
        ) -> ClientPage.RefreshStatistic {
            let said =
                count == 0
                ? words(RefreshLabel.never)
                : words(LocalizedText(counted, values.merging(["count": .number(count)]) { former, _ in former }))
            return ClientPage.RefreshStatistic(words(name), count: said, meaning: words(meaning))
        }
        let lastReuse = ["date": LocalizedText.Value.date(statistics.lastReuseAt ?? client.createdAt)]
        return [
            line(.repeats, .repeatsCount, statistics.repeats, .repeatsMeaning),
            line(.reuses, .reusesCount, statistics.reuses, .reusesMeaning, lastReuse),
            line(.revocations, .revocationsCount, statistics.revocations, .revocationsMeaning),
        ]
    }
}

extension RegisteredClient {
    /// Whether a user's sign-in can yield a refresh token for the client.
    var getsRefreshTokens: Bool {
        switch policy.refreshTokens {
        case .offlineAccess: type != .service && scope.contains(.offlineAccess)
        case .always: type != .service
        case .never: false
        }
    }
}
