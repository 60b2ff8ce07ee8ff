/// An RSA key of 2048 bits that only tests use, in the formats that the client reads.
package enum RSAKeyText {
    /// PKCS #8 in PEM.
    package static let pkcs8 = """
        -----BEGIN PRIVATE KEY-----
        MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDfK9JtqBrrjQGe
        2LRZp2y79j8mCYxnADLPAn30o1LSMo2fkaVYg86o/5jZrXPc2sCM2Nw6gpAB+KS1
        KY8ugc7lteUSILI7wT52Ry9tLEjo8lEgke98c3pctHDxoIdRb0lNDGssuuGCU3tC
        Hi7auI4GaNECp/V31hn4U16wwpovFoA0tQhhlIi65NUV1HV3SOq+60up7irHp4mu
        SFEn9n7MgHfH1rMNKQlHRYQw6A6CVz8YFPb0Qav7BDOvNvR190Rvf3MCwXp7GpTl
        /njVvjUNRdDQWBRUlp1voWw6/8Q33B7oKLI2YmGD6oDLEysFXAL58qYVhUZLv/n9
        G0wL2xaPAgMBAAECggEAMaknPMaNIwBwLWBMlay3egYcXEMArsTxCXak/6S+X87n
        C+yVjiJagOnLohjCcRFuiokRTKXUFNQ3FqcmWPOCzkQRMtz6vGhOlXRWveT+XnPZ
        kLVYxOlPf8SZY3NU2U650X7jdIMrflxET9y2kW5DEHMPm5czfNS0V7l5lzzeoX5m
        W5sUVv075P/biCsObjrbo+Xmxin8+wpx9wdyi4fNqzFaThVkXtttKl+WmAvjLmu3
        9AdhmBRDdCyfGubRjl8RQhqa2bzNaH14n5/OYRsdgbjWHtWEpWqn5fG4ZWeOr6UZ
        0BqouWTyV3H4ZhKXY8OByUYsjwyM5AcTDSsWVpsaoQKBgQD30EMqavt7KWHPdLKB
        2GVIjQahJAOaLkPnFzF8W7WzZ2sB48SxOyMNqpjra97VzDzZZOS6DJkUgSfuawnt
        S+gu2S7b6IRlSUZnT+OULi9GdnRZ2E7S5BcbxUUPwwa35PCrx6u0ASkM0IvU0KUe
        UAkWtgRUescDq674QPvqev4HoQKBgQDmiylTY97pWai4BbmJyDTZjlUSF0/pKvUv
        SWD4OO7f9+Nlc960wyra1VEYvtA8qhSQD/k0JWhVmvvRstaTKd9X/cNwSw3H317h
        MrTOraiRWD2cA4gaDtkh08KQWzhWekMdlQ6Ad5ENooVs2B7fYt2L8O+YKMD7cSva
        t3WkS1mwLwKBgQDodiebUdHn/bCv77NH1FtmTExMusDaT84IqBwWoNz4lumtUyD+
        dA/00PQz2vOksLrf3yIkWI78yg9QOn6MZ+k8kSTAywPvE2aEoU9FgHF+cr3ATgXb
        FHWM6mdXWsYhmRQev+YUrAX67GJPVw2dOszbzhCPwsCPc+xlGmh107waIQKBgQCK
        0ks9KoskylddEB1sCQFB64HwVddJmRNwuOfKMEYu2Q61nXMCN+9LPF4L34J2tReS
        s/ukWc4climCWQT6MqGJU4XmzVrr+uYgBq93MHyroI3grwO6ZSx8QQ4MbNFcyVw2
        qPXFh7nxkuZy5ySX8OllBdzQK+IgxkHY/tW466KDAwKBgGLYUh9hyAeEUK4KV3NX
        P7EL7NsZs0D2uf5QkiXoWYSWDJaC4VsqHGlgZJKHZyn7WuihljMVQdqMdr+s1doY
        CIZDCGBT7mgMuP3O337fLvegSJMKZRQifHi+ZcNiVJRKWQ40GgqE6IBunl/HaLnR
        Ev9d10YoYUq5iuu8jFcLKtv7
        -----END PRIVATE KEY-----
        """

    /// PKCS #1 in PEM.
    package static let pkcs1 = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEpAIBAAKCAQEA3yvSbaga640Bnti0Wadsu/Y/JgmMZwAyzwJ99KNS0jKNn5Gl
        WIPOqP+Y2a1z3NrAjNjcOoKQAfiktSmPLoHO5bXlEiCyO8E+dkcvbSxI6PJRIJHv
        fHN6XLRw8aCHUW9JTQxrLLrhglN7Qh4u2riOBmjRAqf1d9YZ+FNesMKaLxaANLUI
        YZSIuuTVFdR1d0jqvutLqe4qx6eJrkhRJ/Z+zIB3x9azDSkJR0WEMOgOglc/GBT2
        9EGr+wQzrzb0dfdEb39zAsF6exqU5f541b41DUXQ0FgUVJadb6FsOv/EN9we6Ciy
        NmJhg+qAyxMrBVwC+fKmFYVGS7/5/RtMC9sWjwIDAQABAoIBADGpJzzGjSMAcC1g
        TJWst3oGHFxDAK7E8Ql2pP+kvl/O5wvslY4iWoDpy6IYwnERboqJEUyl1BTUNxan
        Jljzgs5EETLc+rxoTpV0Vr3k/l5z2ZC1WMTpT3/EmWNzVNlOudF+43SDK35cRE/c
        tpFuQxBzD5uXM3zUtFe5eZc83qF+ZlubFFb9O+T/24grDm4626Pl5sYp/PsKcfcH
        couHzasxWk4VZF7bbSpflpgL4y5rt/QHYZgUQ3Qsnxrm0Y5fEUIamtm8zWh9eJ+f
        zmEbHYG41h7VhKVqp+XxuGVnjq+lGdAaqLlk8ldx+GYSl2PDgclGLI8MjOQHEw0r
        FlabGqECgYEA99BDKmr7eylhz3SygdhlSI0GoSQDmi5D5xcxfFu1s2drAePEsTsj
        DaqY62ve1cw82WTkugyZFIEn7msJ7UvoLtku2+iEZUlGZ0/jlC4vRnZ0WdhO0uQX
        G8VFD8MGt+Twq8ertAEpDNCL1NClHlAJFrYEVHrHA6uu+ED76nr+B6ECgYEA5osp
        U2Pe6VmouAW5icg02Y5VEhdP6Sr1L0lg+Dju3/fjZXPetMMq2tVRGL7QPKoUkA/5
        NCVoVZr70bLWkynfV/3DcEsNx99e4TK0zq2okVg9nAOIGg7ZIdPCkFs4VnpDHZUO
        gHeRDaKFbNge32Ldi/DvmCjA+3Er2rd1pEtZsC8CgYEA6HYnm1HR5/2wr++zR9Rb
        ZkxMTLrA2k/OCKgcFqDc+JbprVMg/nQP9ND0M9rzpLC6398iJFiO/MoPUDp+jGfp
        PJEkwMsD7xNmhKFPRYBxfnK9wE4F2xR1jOpnV1rGIZkUHr/mFKwF+uxiT1cNnTrM
        284Qj8LAj3PsZRpoddO8GiECgYEAitJLPSqLJMpXXRAdbAkBQeuB8FXXSZkTcLjn
        yjBGLtkOtZ1zAjfvSzxeC9+CdrUXkrP7pFnOHJYpglkE+jKhiVOF5s1a6/rmIAav
        dzB8q6CN4K8DumUsfEEODGzRXMlcNqj1xYe58ZLmcuckl/DpZQXc0CviIMZB2P7V
        uOuigwMCgYBi2FIfYcgHhFCuCldzVz+xC+zbGbNA9rn+UJIl6FmElgyWguFbKhxp
        YGSSh2cp+1rooZYzFUHajHa/rNXaGAiGQwhgU+5oDLj9zt9+3y73oEiTCmUUInx4
        vmXDYlSUSlkONBoKhOiAbp5fx2i50RL/XddGKGFKuYrrvIxXCyrb+w==
        -----END RSA PRIVATE KEY-----
        """

    /// A private JSON Web Key (RFC 7518 §6.3.2), with further members such as `"alg":"PS256"`.
    package static func jsonWebKey(_ more: String...) -> String {
        let numbers = Self.numbers.map { "\"\($0)\":\"\($1)\"" }
        return "{" + (["\"kty\":\"RSA\""] + numbers + more).joined(separator: ",") + "}"
    }

    /// The public key as a JSON Web Key set.
    package static var publicKeySet: String {
        let numbers = Self.numbers.prefix(2).map { "\"\($0)\":\"\($1)\"" }
        return "{\"keys\":[{" + (["\"kty\":\"RSA\""] + numbers).joined(separator: ",") + "}]}"
    }

    private static let numbers: KeyValuePairs<String, String> = [
        "n":
            "3yvSbaga640Bnti0Wadsu_Y_JgmMZwAyzwJ99KNS0jKNn5GlWIPOqP-Y2a1z3NrAjNjcOoKQAfiktSmPLoHO5bXlEiCyO8E-"
            + "dkcvbSxI6PJRIJHvfHN6XLRw8aCHUW9JTQxrLLrhglN7Qh4u2riOBmjRAqf1d9YZ-FNesMKaLxaANLUIYZSIuuTVFdR1d0jq"
            + "vutLqe4qx6eJrkhRJ_Z-zIB3x9azDSkJR0WEMOgOglc_GBT29EGr-wQzrzb0dfdEb39zAsF6exqU5f541b41DUXQ0FgUVJad"
            + "b6FsOv_EN9we6CiyNmJhg-qAyxMrBVwC-fKmFYVGS7_5_RtMC9sWjw",
        "e": "AQAB",
        "d":
            "MaknPMaNIwBwLWBMlay3egYcXEMArsTxCXak_6S-X87nC-yVjiJagOnLohjCcRFuiokRTKXUFNQ3FqcmWPOCzkQRMtz6vGhO"
            + "lXRWveT-XnPZkLVYxOlPf8SZY3NU2U650X7jdIMrflxET9y2kW5DEHMPm5czfNS0V7l5lzzeoX5mW5sUVv075P_biCsObjrb"
            + "o-Xmxin8-wpx9wdyi4fNqzFaThVkXtttKl-WmAvjLmu39AdhmBRDdCyfGubRjl8RQhqa2bzNaH14n5_OYRsdgbjWHtWEpWqn"
            + "5fG4ZWeOr6UZ0BqouWTyV3H4ZhKXY8OByUYsjwyM5AcTDSsWVpsaoQ",
        "p":
            "99BDKmr7eylhz3SygdhlSI0GoSQDmi5D5xcxfFu1s2drAePEsTsjDaqY62ve1cw82WTkugyZFIEn7msJ7UvoLtku2-iEZUlG"
            + "Z0_jlC4vRnZ0WdhO0uQXG8VFD8MGt-Twq8ertAEpDNCL1NClHlAJFrYEVHrHA6uu-ED76nr-B6E",
        "q":
            "5ospU2Pe6VmouAW5icg02Y5VEhdP6Sr1L0lg-Dju3_fjZXPetMMq2tVRGL7QPKoUkA_5NCVoVZr70bLWkynfV_3DcEsNx99e"
            + "4TK0zq2okVg9nAOIGg7ZIdPCkFs4VnpDHZUOgHeRDaKFbNge32Ldi_DvmCjA-3Er2rd1pEtZsC8",
        "dp":
            "6HYnm1HR5_2wr--zR9RbZkxMTLrA2k_OCKgcFqDc-JbprVMg_nQP9ND0M9rzpLC6398iJFiO_MoPUDp-jGfpPJEkwMsD7xNm"
            + "hKFPRYBxfnK9wE4F2xR1jOpnV1rGIZkUHr_mFKwF-uxiT1cNnTrM284Qj8LAj3PsZRpoddO8GiE",
        "dq":
            "itJLPSqLJMpXXRAdbAkBQeuB8FXXSZkTcLjnyjBGLtkOtZ1zAjfvSzxeC9-CdrUXkrP7pFnOHJYpglkE-jKhiVOF5s1a6_rm"
            + "IAavdzB8q6CN4K8DumUsfEEODGzRXMlcNqj1xYe58ZLmcuckl_DpZQXc0CviIMZB2P7VuOuigwM",
        "qi":
            "YthSH2HIB4RQrgpXc1c_sQvs2xmzQPa5_lCSJehZhJYMloLhWyocaWBkkodnKfta6KGWMxVB2ox2v6zV2hgIhkMIYFPuaAy4"
            + "_c7fft8u96BIkwplFCJ8eL5lw2JUlEpZDjQaCoTogG6eX8doudES_13XRihhSrmK67yMVwsq2_s",
    ]
}
