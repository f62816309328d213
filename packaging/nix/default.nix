# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The command ibfattree, without the plugin for OpenSM:
#
#	nix-build packaging/nix --arg src ./ibfattree-0.1.0.tar.xz
{
  pkgs ? import <nixpkgs> { },
  src,
}:
pkgs.stdenv.mkDerivation {
  pname = "ibfattree";
  version = "0.1.0";
  inherit src;

  nativeBuildInputs = [ pkgs.pkg-config ];
  buildInputs = with pkgs; [
    json_c
    rdma-core
    xz
    zlib
    python3
  ];

  configureFlags = [ "--without-opensm" ];
  enableParallelBuilding = true;

  # a tree is generated, routed and checked
  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/ibfattree gen 648 -o tree.net
    $out/bin/ibfattree route tree.net -o tree.lfts
    $out/bin/ibfattree check tree.net --lfts tree.lfts
  '';

  meta = {
    description = "Routing, checking and simulation of InfiniBand fat-trees";
    license = with pkgs.lib.licenses; [ gpl2Only ];
    platforms = pkgs.lib.platforms.linux;
    mainProgram = "ibfattree";
  };
}
