import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import Foundation

/// The store of a server, its server key, and the settings that the server last used, for administration commands.
struct Installation {
    let store: any SQLStore
    /// The key from which the server derives its other secrets.
    let serverKey: ServerKey
    /// The settings of the server that last ran on the store.
    let noted: NotedSettings
    /// The options that name the store in a command line.
    let options: String
    /// Stores the settings of a server that starts on the store.
    let note: @Sendable (NotedSettings) async throws -> Void

    /// Creates the event of a change that an administration command makes, for the commit of the change.
    func event(
        _ kind: AuditEvent.Kind, person: PersonIdentifier? = nil, client: ClientIdentifier? = nil, detail: String
    ) -> AuditEvent {
        AuditEvent(
            at: store.now(), kind, personID: person, clientID: client, detail: "at the command line: " + detail)
    }

    /// The issuer of the server that last ran on the store; nil if none has run.
    ///
    /// Commands need it to refuse redirect URIs that belong to the server itself.
    var issuer: Issuer? { noted.issuer }

    /// The callback origin of the server that last ran on the store; nil if it has none.
    var callbackOrigin: CallbackOrigin? { noted.callbackOrigin }

    /// The redirect URI schemes without a period that the server allowed when it last ran on the store.
    ///
    /// Commands accept the same schemes.
    var plainSchemes: Set<String> { noted.plainSchemes }

    /// The setting ``ServerSettings/allowsDevelopmentRedirectURIs`` of the server that last ran on the store; true if
    /// none has run.
    var allowsDevelopmentRedirectURIs: Bool { noted.allowsDevelopmentRedirectURIs }
}
