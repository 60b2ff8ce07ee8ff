import CounterfoilClientTesting

extension ServerScript {
    /// The script of an MCP server and an authorization server that have what all MCP clients need.
    static func mcpServer(_ misbehaviors: Misbehavior...) -> ServerScript {
        var script = ServerScript(misbehaviors)
        script.allowsEveryOrigin = true
        if script.api.challenges == nil { script.challenge("Bearer \(place), scope=\"photos.read\"") }
        script.metadata.replaced.append(WireMember("client_id_metadata_document_supported", true))
        return script
    }

    /// The parameter with the URL of the API's metadata.
    static let place = "resource_metadata=\"{origin}/.well-known/oauth-protected-resource/api\""

    mutating func challenge(_ challenges: String...) { api.challenges = challenges }
}
