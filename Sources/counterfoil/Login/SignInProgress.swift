import CounterfoilClient
import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// The progress messages of a sign-in: the event for which the program waits, and the way to stop the program.
struct SignInProgress: Sendable {
    /// The time to wait for the browser unless the user sets another, in seconds.
    static let browserTimeout = 300

    let console: CommandOutput
    var timeout = SignInProgress.browserTimeout
    /// The issuer to name in messages about the client identifier; nil suppresses these messages.
    var issuer: Issuer?
    /// The other ways to sign in, to name if no browser opens; nil if the command has none.
    var alternatives: SignInAlternatives?

    /// The ways to sign in if the browser is on another device.
    final class SignInAlternatives: Sendable {
        private let canPaste: Bool
        private let device: String
        private let serverOffersDevice = Mutex(false)

        /// - Parameters:
        ///   - canPaste: Whether `--browser paste` works with the redirect URI.
        ///   - device: The option with which the user signs in on another device, if the server offers that.
        init(canPaste: Bool, device: String) {
            self.canPaste = canPaste
            self.device = device
        }

        fileprivate func learn(from server: AuthorizationServerConfiguration) {
            serverOffersDevice.withLock { $0 = server.deviceAuthorizationEndpoint != nil }
        }

        /// The advice as a sentence after a blank; empty if there is no other way.
        fileprivate var advice: String {
            let ways = [canPaste ? "--browser paste" : nil, serverOffersDevice.withLock { $0 } ? device : nil]
                .compactMap(\.self)
            guard !ways.isEmpty else { return "" }
            return " If your browser is on another device, press Control-C, and run the command again with "
                + "\(ways.joined(separator: ", or with "))."
        }
    }

    /// Reports an event of a sign-in in the browser.
    func tell(_ event: NativeSignIn.Event, isPasted: Bool = false) {
        switch event {
        case .identified(let client, let origin): if let issuer { tell(client, origin, at: issuer) }
        case .opening(let url) where isPasted:
            console.say("Open: \(url)")
            console.say(
                "Then paste the URL of the page on which the browser ends, at once because it expires soon, and press "
                    + "Return; it is not echoed.")
            console.say("Waiting \(SpokenDuration(seconds: timeout)) for the URL; press Control-C to stop.")
        case .opening(let url):
            console.say("Open: \(url)")
            console.say("Waiting \(SpokenDuration(seconds: timeout)) for the browser; press Control-C to stop.")
        case .pushed(let lifetime) where lifetime < .seconds(timeout):
            let time = SpokenDuration(seconds: Int(lifetime.components.seconds))
            console.say("The URL expires in \(time) unless it is opened; after that, start again.")
        case .browser(.failed(let reason)):
            console.say(
                "The browser could not be opened (\(reason)); open the URL yourself in a browser on this device."
                    + (alternatives?.advice ?? ""))
        case .rejected(let reason): console.say("The sign-in will probably fail: \(reason).")
        case .discovered(let server): alternatives?.learn(from: server)
        case .membersIgnored(let names): console.say(IgnoredMembers(names: names).clause.capitalizedSentence)
        case .browser, .answered, .exchanged, .notPushed, .pushed: break
        }
        console.detail(Self.detail(of: event))
    }

    /// Reports how the server identifies the client, unless the user passed a client ID.
    func tell(_ client: ClientIdentifier, _ origin: ClientIdentification.Origin, at issuer: Issuer) {
        switch origin {
        case .preregistered: break
        case .metadataDocument:
            console.say("This client is identified at \(issuer) by its metadata document \(client).")
        case .registeredNow: console.say("This client was registered at \(issuer).")
        case .registeredEarlier(let since):
            console.say("This client has been registered at \(issuer) since \(since.formatted(.iso8601)).")
        }
    }

    /// Reports why the pasted text is not accepted as the authorization response.
    func refuse(_ refusal: PasteReceiver.Refusal) { console.say("\(refusal)") }

    private static func detail(of event: NativeSignIn.Event) -> String {
        switch event {
        case .identified(let client, _): "the client ID is \(client)"
        case .discovered(let server):
            "the metadata of \(server.issuer) is valid; the token endpoint is \(server.tokenEndpoint)"
        case .notPushed(let error): "the request could not be pushed, so the browser carries it: \(error)"
        case .opening: "waiting for the response"
        case .pushed(let lifetime):
            "pushed the request; its URL expires in \(lifetime.components.seconds) s unless it is opened"
        case .rejected(let reason): reason
        case .browser(.launched): "started the browser"
        case .browser(.notAttempted): "no browser was started"
        case .browser(.failed(let reason)): "failed to start the browser: \(reason)"
        case .answered: "received the response; sending its code to the token endpoint"
        case .membersIgnored(let names): IgnoredMembers(names: names).clause
        case .exchanged: "received and verified the tokens"
        }
    }
}

extension String {
    /// The text with its first letter in upper case and a full stop.
    var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
