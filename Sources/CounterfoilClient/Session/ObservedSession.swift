public import Observation

/// The status of a session for a user interface, which shows each change of it.
///
///     struct AccountView: View {
///         let account: ObservedSession
///
///         var body: some View {
///             switch account.status {
///             case .unknown: ProgressView()
///             case .signedIn(let user): Text(user?.name ?? "Signed in")
///             case .signedOut, .ended: Button("Sign In") { Task { try await account.session.signedIn() } }
///             }
///         }
///     }
///
/// The status changes with the events of this session. A sign-in or sign-out in another process is noticed when the
/// session is used the next time, or with ``update()``.
@available(macOS 14, iOS 17, *)
@MainActor
@Observable
public final class ObservedSession {
    /// The answer to the question who is signed in.
    public enum Status: Sendable, Hashable {
        /// The token store has not been read yet, or cannot be read.
        case unknown
        /// No user is signed in, or the access token has expired and there is no refresh token.
        case signedOut
        /// A user is signed in; nil if the sign-in did not request `openid`, so that it is not known who.
        case signedIn(Credentials.User?)
        /// The session has ended for a reason: the user has to sign in again.
        case ended(SignInError)
    }

    /// The session.
    public let session: TokenSession
    /// Who is signed in, as far as this process knows.
    public private(set) var status = Status.unknown
    @ObservationIgnored private var following: Task<Void, Never>?

    /// Begins to follow a session, and reads its token store.
    public init(_ session: TokenSession) {
        self.session = session
        let events = session.events
        following = Task { [weak self] in
            await self?.update()
            for await event in events { await self?.process(event) }
        }
    }

    deinit { following?.cancel() }

    /// Reads the token store, for example when the app comes to the foreground; sends no request.
    public func update() async {
        do throws(SessionError) {
            let credentials = try await session.presentCredentials()
            let isUsable = credentials.refreshToken != nil || !credentials.isExpired(early: 0)
            set(isUsable ? .signedIn(credentials.user) : .signedOut)
        } catch {
            switch error {
            case .ended(let reason, _): set(.ended(reason))
            case .notSignedIn, .expired:
                // The reason of the end stays until the next sign-in.
                if case .ended = status { return }
                set(.signedOut)
            default: break
            }
        }
    }

    private func process(_ event: TokenSession.Event) async {
        switch event {
        case .ended(let reason): set(.ended(reason))
        case .signedOut: set(.signedOut)
        case .signedIn, .signedInElsewhere, .refreshed, .refreshedElsewhere, .refreshedButNotSaved: await update()
        case .idTokenDiscarded, .membersIgnored, .refreshFailed: break
        }
    }

    /// Changes the status; a view is not drawn again if it is the same.
    private func set(_ status: Status) {
        if status != self.status { self.status = status }
    }
}
