extension TokenSession {
    /// Signs out: deletes the credentials and revokes their tokens at the server.
    ///
    /// ``SessionError/signedOutHereOnly(_:)`` means that the credentials are deleted, but the revocation failed.
    @discardableResult
    public func signOut() async throws(SessionError) -> TokenRevocation.Outcome {
        try await revoke(try await remove())
    }

    /// Signs out, and also ends the user's session at the server through the browser.
    ///
    /// The credentials are deleted before the browser opens. If both the browser sign-out and the revocation
    /// fail, the error of the browser sign-out is thrown.
    @discardableResult
    public func signOut(
        through browser: BrowserSignOut, onEvent report: @escaping @Sendable (BrowserSignOut.Event) -> Void = { _ in }
    ) async throws(SessionError) -> (tokens: TokenRevocation.Outcome, session: BrowserSignOut.Outcome) {
        let credentials = try await remove()
        let revocation: Result<TokenRevocation.Outcome, SessionError>
        do throws(SessionError) { revocation = .success(try await revoke(credentials)) } catch {
            revocation = .failure(error)
        }
        let session: BrowserSignOut.Outcome
        do { session = try await browser.run(credentials, onEvent: report) } catch {
            throw .signedOutHereOnly(error)
        }
        return (try revocation.get(), session)
    }

    private func revoke(_ credentials: Credentials) async throws(SessionError) -> TokenRevocation.Outcome {
        do { return try await TokenRevocation(transport: transport).revoke(credentials) } catch {
            throw .signedOutHereOnly(error)
        }
    }

    /// Deletes the stored credentials and returns the latest ones, even if those could not be stored.
    private func remove() async throws(SessionError) -> Credentials {
        let before: StoredRecord
        do {
            before = try await store.update(profile) { [binding] kept in
                switch kept {
                case .none: .keep
                case .record(let record): binding.admits(record.credentials) ? .remove : .keep
                case .unreadable: .remove
                }
            }
        } catch { throw .store(error) }
        // A record that cannot be read contains no token that could be revoked.
        if case .unreadable(let error) = before {
            forget()
            broadcast.send(.signedOut)
            throw .signedOutHereOnly(.store(error))
        }
        let record = try binding.admitted(before.record, in: profile)
        // If the latest credentials could not be stored, return them instead of the stored ones: the server has
        // replaced the stored tokens, so the latest tokens are to be revoked.
        let latest = forget(record)
        broadcast.send(.signedOut)
        return latest ?? record.credentials
    }
}
