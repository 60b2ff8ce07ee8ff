import CounterfoilClient
import CounterfoilProtocol
import CounterfoilTokens
import Foundation

/// The effect of a refresh on the refresh token (RFC 6749 §6, RFC 9700 §4.14.2).
extension Examination {
    /// Refreshes, and refreshes again with the old token if there is a new one.
    ///
    /// Returns the remaining credentials.
    mutating func refresh(
        _ credentials: Credentials, at server: AuthorizationServerConfiguration, _ recorder: AnswerRecorder
    ) async -> Credentials {
        guard let token = credentials.refreshToken else { return credentials }
        let refresh = TokenRefresh(transport: recorder)
        switch await refresh.refresh(credentials, with: token, at: server) {
        case .rejected(let error): reject(error)
        case .failed(let error): return await retry(credentials, token, at: server, refresh, after: error)
        case .refreshed(let fresh):
            guard let next = fresh.refreshToken, next != token else {
                let isRepeated = recorder.last.flatMap(Self.members)?["refresh_token"] != nil
                sound(
                    isRepeated ? "refresh-token-repeated" : "refresh-token-kept",
                    "a refresh works, and the refresh token stays the same")
                return fresh
            }
            return await old(token, of: fresh, at: server, refresh)
        }
        return credentials
    }

    private mutating func reject(_ error: SignInError) {
        if case .unsafe(.idToken) = error {
            return fault(
                "refresh-other-person", "the ID token of a refresh is not about the person who signed in: \(error)",
                mend: "keep sub the same (OpenID Connect Core §12.2)")
        }
        fault(
            "refresh-refused", "a fresh refresh token is refused: \(error)",
            mend: "see the log of the server; if it gives refresh tokens it has to take them", status: .refused)
    }

    /// Retries a refresh whose response was lost.
    ///
    /// The outcome decides whether such a loss signs users out.
    private mutating func retry(
        _ credentials: Credentials, _ token: RefreshToken, at server: AuthorizationServerConfiguration,
        _ refresh: TokenRefresh, after error: SignInError
    ) async -> Credentials {
        switch await refresh.refresh(credentials, with: token, at: server) {
        case .refreshed(let fresh):
            fault(
                "refresh-answer-lost",
                "the answer to a refresh was lost (\(error)); asked again, the server repeated it",
                mend: "see why connections break; nobody is signed out by that", status: .unavailable)
            return fresh
        case .rejected(let other):
            fault(
                "refresh-answer-lost",
                "the answer to a refresh was lost (\(error)), and the server takes the old refresh token no more (\(other)):"
                    + " people are signed out by that",
                mend: "let the server repeat its answer for a while when the same refresh token comes again",
                status: .unavailable)
        case .failed(let other):
            fault(
                "refresh-fails", "a refresh fails, twice: \(other)", mend: "see the log of the server",
                status: Failure(other).status)
        }
        return credentials
    }

    private mutating func old(
        _ token: RefreshToken, of fresh: Credentials, at server: AuthorizationServerConfiguration,
        _ refresh: TokenRefresh
    ) async -> Credentials {
        switch await refresh.refresh(fresh, with: token, at: server) {
        case .refreshed(let repeated):
            sound(
                "refresh-token-rotates-leniently",
                "a refresh gives a new refresh token, and repeats its answer when the old one comes again")
            return repeated
        case .failed: return fresh
        case .rejected: break
        }
        guard let next = fresh.refreshToken else { return fresh }
        let mend = "let the server repeat its answer for a while when the same refresh token comes again"
        switch await refresh.refresh(fresh, with: next, at: server) {
        case .refreshed(let latest):
            advise(
                "refresh-token-rotates",
                "a refresh gives a new refresh token, and the old one is refused at once: an answer that is lost on its way signs"
                    + " the person out", mend: mend)
            return latest
        case .rejected, .failed:
            advise(
                "refresh-token-rotates-strictly",
                "a refresh gives a new refresh token, and the old one, when it comes again, ends the whole session: an answer that"
                    + " is lost on its way signs the person out", mend: mend)
            return fresh
        }
    }
}
