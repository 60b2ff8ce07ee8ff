extension TokenSession {
    /// Stores the credentials of a new sign-in, which the session uses from now on, and returns them as stored.
    ///
    /// They replace the stored ones, even if those are of another user or client, or cannot be read. If the same user
    /// signed in again and the server issued no new refresh token, the former one is kept, because some servers issue
    /// it only at the first sign-in. Otherwise the former tokens are revoked; a failure of that is ignored.
    ///
    /// Throws ``SessionError/notSignedIn(_:found:)`` if the new credentials are not of the issuer and the client of the
    /// session, and ``SessionError/notStored(_:_:)``, which contains them, if they cannot be stored.
    @discardableResult
    public func adopt(_ fresh: Credentials) async throws(SessionError) -> Credentials {
        guard binding.admits(fresh) else {
            throw .notSignedIn(profile, found: StoredSignIn(TokenRecord(fresh)))
        }
        let before: StoredRecord
        do {
            before = try await store.update(profile) { kept in
                .put(TokenRecord(fresh.keepingRefreshToken(ofSignInBefore: kept.record?.credentials)))
            }
        } catch { throw .notStored(fresh, error) }
        let latest = forget(before.record)
        await forgetFailure()
        broadcast.send(.signedIn)
        let stored = fresh.keepingRefreshToken(ofSignInBefore: before.record?.credentials)
        if let former = latest ?? before.record?.credentials, stored.refreshToken != former.refreshToken,
            !former.isRevoked(with: stored)
        {
            let limit = DeadlineTransport(transport: transport, limit: .seconds(5), deadline: .now + .seconds(10))
            _ = try? await TokenRevocation(transport: limit).revoke(former)
        }
        return stored
    }

    /// Returns credentials with a usable access token, and lets the user sign in first if no user is signed in.
    ///
    /// The user signs in if the profile has no credentials that the session may use, or if the session has ended or
    /// expired. If several tasks call this function at once, the user signs in once. The other tasks get the result.
    ///
    /// If the store cannot be written, the function throws ``SessionError/store(_:)`` before the browser opens. If that
    /// changes while the user signs in, it throws ``SessionError/notStored(_:_:)``.
    ///
    /// The sign-in is the one for which the session was created (``init(for:store:profile:)-(NativeSignIn,_,_)``). A
    /// session that was created otherwise knows none, and throws the error of ``credentials(for:)``.
    @discardableResult
    public func signedIn(
        onEvent report: @escaping @Sendable (NativeSignIn.Event) -> Void = { _ in }
    ) async throws(SessionError) -> Credentials {
        guard let ownSignIn else { return try await credentials() }
        return try await signedIn { () async throws(SignInError) in try await ownSignIn.run(onEvent: report) }
    }

    /// Returns credentials with a usable access token, and lets the user sign in first if no user is signed in.
    ///
    /// `signIn` runs a sign-in of any kind, such as a ``DeviceSignIn``, for the issuer and the client of the session.
    @discardableResult
    public func signedIn(
        _ signIn: @escaping @Sendable () async throws(SignInError) -> Credentials
    ) async throws(SessionError) -> Credentials {
        do throws(SessionError) { return try await credentials() } catch {
            guard error.isEndedBySignIn else { throw error }
        }
        let work = joinSignIn { [self] in
            // The tokens of a sign-in that cannot be stored would be lost.
            do throws(TokenStoreError) { try await store.checkWritable(profile) } catch {
                return .failure(error == .cancelled ? .cancelled : .store(error))
            }
            do throws(SignInError) {
                let fresh = try await signIn()
                do throws(SessionError) { return .success(try await adopt(fresh)) } catch { return .failure(error) }
            } catch {
                return .failure(error == .cancelled ? .cancelled : .signInFailed(error))
            }
        }
        let result = await work.value()
        leaveSignIn(work)
        guard let result else { throw .cancelled }
        return try result.get()
    }

    /// Revokes the tokens of a sign-in that could not be stored; returns whether they are revoked.
    ///
    /// They stay valid if their revocation would end the sign-in that is stored, which is that of `former` if the store
    /// cannot be read.
    package func revoke(unstored fresh: Credentials, replacing former: Credentials? = nil) async -> Bool {
        let stored = (try? await store.record(of: profile))?.credentials
        if let kept = stored ?? former, fresh.isRevoked(with: kept) { return false }
        let limit = DeadlineTransport(transport: transport, limit: .seconds(5), deadline: .now + .seconds(10))
        return (try? await TokenRevocation(transport: limit).revoke(fresh)) == .revoked
    }

    /// Replaces the credentials of the session with those of a step-up of the same user.
    ///
    /// If the store now contains the credentials of another user, or none because the session has ended, the new
    /// credentials are revoked instead.
    func replace(_ former: Credentials, by fresh: Credentials) async throws(SessionError) {
        var fresh = fresh.keepingRefreshToken(of: former)
        // The credentials of a step-up continue the sign-in of the former ones, by the same client.
        fresh.signInID = former.signInID
        fresh.isSelfRegistered = former.isSelfRegistered
        let record = TokenRecord(fresh)
        let before: StoredRecord
        do {
            before = try await store.update(profile) { kept in
                kept.record?.credentials.isOfSameUser(as: former) == true ? .put(record) : .keep
            }
        } catch { throw .notStored(fresh, error) }
        guard let kept = before.record?.credentials, kept.isOfSameUser(as: former) else {
            forget()
            await discard(fresh)
            if before == .none { throw .notSignedIn(profile) }
            return
        }
        forget(before.record)
        // The former refresh token is revoked only if it is bound to another key, or if the server issued a new one.
        if kept.refreshToken != nil, kept.refreshToken != fresh.refreshToken, !kept.isRevoked(with: fresh) {
            await discard(kept)
        }
    }
}

extension SessionError {
    /// Whether a new sign-in of the user ends the error.
    fileprivate var isEndedBySignIn: Bool {
        switch self {
        case .notSignedIn, .ended, .expired: true
        case .store(let error): error.isAboutOneRecord
        case .unavailable, .signedOutHereOnly, .paused, .signInFailed, .notStored, .targetRefused, .refused,
            .noResponse, .cancelled:
            false
        }
    }
}

extension Credentials {
    /// Returns these credentials, with the refresh token of the credentials that they replace, if these contain none
    /// and the user is known to be the same.
    fileprivate func keepingRefreshToken(ofSignInBefore former: Credentials?) -> Credentials {
        guard let former, user != nil else { return self }
        return keepingRefreshToken(of: former)
    }

    /// Returns whether the server may revoke other tokens too when it revokes the tokens of these credentials.
    ///
    /// RFC 7009 §2.1 lets a server revoke everything that it issued to a client for a user, and some servers do. The
    /// revocation of a former sign-in would then end the new one.
    fileprivate func isRevoked(with other: Credentials) -> Bool {
        guard issuer == other.issuer, clientID == other.clientID else { return false }
        if let user, let another = other.user, user.subject != another.subject { return false }
        let behavior = server?.profile.behavior ?? ServerProfile.ofIssuer(issuer)?.behavior
        if behavior?.revokesAllTokensTogether == true { return true }
        // Keycloak keeps one session of a client for all its sign-ins in a browser, and ends that session.
        return endpoints?.isKeycloak ?? false
    }
}
